"""Language models that judge or write: clients, stored replies, budgets."""
