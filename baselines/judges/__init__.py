"""LLM judges: prompts as data, any model behind one protocol, every answer kept and counted.

A method (:mod:`~prevalence.baselines.judges.packs`) and a dimension make a prompt; a backend
(:mod:`~prevalence.llm.protocol`) answers it; a parser
(:mod:`~prevalence.baselines.judges.parsers`) reads the answers; and
:mod:`~prevalence.baselines.judges.run` turns them into score rows and pair rows.
"""
