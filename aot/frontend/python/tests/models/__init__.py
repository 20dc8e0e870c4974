"""Whole models and how they are trained, each a function that makes a Training; see the table in test_models.py."""
