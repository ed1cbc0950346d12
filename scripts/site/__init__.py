"""The documentation as a web site: pages generated from the code, scenes, link checks, and
execution of the code blocks of pages.
"""
