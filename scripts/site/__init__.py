"""The documentation as a site: pages that are written from the code, scenes, checks, and what runs the blocks of pages."""
