"""Programs run by tables before there is machine code of them."""
