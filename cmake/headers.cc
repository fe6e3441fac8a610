// Nothing but the home of the precompiled headers (headers.h).
