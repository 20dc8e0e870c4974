# cmake -DSOURCE=FOLDER -DHEADER=FILE -P IngotCommit.cmake: writes the commit of a checkout as a header; "" outside of
# one. The file is touched only when it changes.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=10 HEAD OUTPUT_VARIABLE commit ERROR_QUIET
                OUTPUT_STRIP_TRAILING_WHITESPACE)
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define INGOT_COMMIT \"@commit@\"\n" @ONLY)
