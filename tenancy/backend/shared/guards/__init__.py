"""Guards: admission policies over what tenants create, one module each; `guards` of a cluster says their levels."""
