"""The map: an organization as a static site, for people who never open org.yaml.

`values` reads the organization, `pages` makes HTML of it; templates/site holds the documents.
"""
