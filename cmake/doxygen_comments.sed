# Makes plain comments Doxygen's: those before a declaration and those behind a member. Headings of sections stay.
/^ *\/[*\/] ---/b
s,^( *)/\* ,\1/** ,
s,([;\,]) +/\* ,\1 /**< ,
s,^( *)// ,\1/// ,
s,([;\,]) +// ,\1 ///< ,
