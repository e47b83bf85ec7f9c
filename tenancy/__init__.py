"""An org chart in, a correct multi-tenant GPU cluster out."""

__version__ = "0.1.0"
