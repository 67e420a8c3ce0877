"""Meta-evaluation: how well do metrics agree with people, and people with each other?"""
