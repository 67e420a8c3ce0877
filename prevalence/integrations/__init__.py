"""Prevalence inside other packages' loops; each module needs the package it is named for."""
