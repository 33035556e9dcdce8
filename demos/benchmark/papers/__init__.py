"""The tables and figures of Guenter & Lee (2009) and Si & Guenter (2011), measured again with this project."""
