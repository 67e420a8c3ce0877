"""Texts as they come, cut into sentences: HTML, Markdown, paragraphs, languages."""
