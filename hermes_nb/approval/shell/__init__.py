"""The reader of shell text: which commands a script would run, with which words, and what flows between them.

In the order in which to read them, with what each hands on::

    commands         the terms: Word, Stream, Redirect, Command; UNKNOWN for what only the running shell knows
    grammar          text             -> a syntax tree, or "too intricate"
    reader           statements       -> what runs, in which order, with what flowing in; the entrance, "read"
    simple_commands  one command node -> a Command: words, assignments, redirections
    words            one word node    -> pieces: what is written, quoted, or put in for $x, ${x:-y} and $(…)
    pieces, braces   pieces           -> Words: braces, several values, parting at blanks
    variables        a name           -> the values it may have
    script           a Command        -> recorded, with all that it has run by others; cd, read, set and the like
    wrappers         a Command        -> whom it runs, for sudo, timeout, ssh and all of their form
    launchers        the same         for those with a way of their own: sh -c, docker exec, tmux, git -c
    multipliers      the same         for those that run it on many things: xargs, parallel, find, fd
    interpreters     a Command        -> the program text that it executes, in whichever language
    flow             Commands         -> what they would print, where that can be told, and from whom it comes
    written          a Command        -> the files it writes, should the script run them later

``reader`` begins with one example command and what becomes of it. Nothing here knows which commands are dangerous:
``assess_command`` holds the rules against what ``read`` returns.
"""
