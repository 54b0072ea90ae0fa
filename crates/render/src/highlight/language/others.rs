//! Shells, data, markup, and languages that look like nothing else.

use super::Syntax::{Code, Diff, Markdown, Markup};
use super::{Grammar, HASH_COMMENTS, Keys, Language, NO_WORDS, Quote, long, quote, raw, template};

pub(super) static LANGUAGES: [Language; 19] = [
    Language {
        names: "bash sh zsh shell shell-session console terminal ksh fish bashrc zshrc profile env",
        syntax: Code(Grammar {
            keywords: "alias break case cd continue declare do done echo elif else esac eval exec exit export fi for function if in local printf read \
                       readonly return set shift source sudo then trap unset until while",
            constants: "true false",
            quotes: &[template("\""), raw("'"), template("`")],
            word_marks: "-.",
            has_variables: true,
            ..HASH_COMMENTS
        }),
    },
    Language {
        names: "powershell ps1 psm1 pwsh",
        syntax: Code(Grammar {
            keywords: "begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for foreach from function if in \
                       param process return switch throw trap try until using while",
            line_comments: &["#"],
            block_comment: Some(("<#", "#>")),
            quotes: &[Quote { escapes: false, ..template("\"") }, raw("'")],
            word_marks: "-",
            has_variables: true,
            ignores_case: true,
            ..NO_WORDS
        }),
    },
    Language {
        names: "sql mysql postgresql postgres psql plsql sqlite",
        syntax: Code(Grammar {
            keywords: "add all alter and as asc begin between bigint blob boolean by cascade case cast char check collate column commit conflict \
                       constraint create cross current_date current_timestamp database date default delete desc distinct do double drop else end \
                       escape except exists explain float for foreign from full function grant group having if ilike in index inner insert int integer \
                       intersect interval into is join key language lateral left like limit natural not nothing numeric of offset on or order outer \
                       over partition pragma primary procedure real recursive references replace returning returns revoke right rollback row rows \
                       schema select serial set table temporary text then timestamp to transaction trigger truncate union unique update using values \
                       varchar view when where window with without",
            constants: "true false null",
            line_comments: &["--"],
            block_comment: Some(("/*", "*/")),
            quotes: &[raw("'"), raw("\""), raw("`")],
            calls: true,
            ignores_case: true,
            ..NO_WORDS
        }),
    },
    Language {
        names: "json jsonc json5 jsonl ndjson webmanifest",
        syntax: Code(Grammar {
            constants: "true false null",
            line_comments: &["//"],
            block_comment: Some(("/*", "*/")),
            keys: Keys::Quoted,
            ..NO_WORDS
        }),
    },
    Language {
        names: "yaml yml",
        syntax: Code(Grammar {
            constants: "true false null yes no on off",
            quotes: &[long("\""), raw("'")],
            word_marks: "-./",
            keys: Keys::Colon,
            ..HASH_COMMENTS
        }),
    },
    Language {
        names: "toml ini cfg conf properties editorconfig gitconfig service desktop",
        syntax: Code(Grammar {
            constants: "true false",
            quotes: &[long("\"\"\""), raw("'''"), quote("\""), quote("'")],
            line_comments: &["#", ";"],
            word_marks: "-.",
            keys: Keys::Assigned,
            ..NO_WORDS
        }),
    },
    Language { names: "html htm xhtml xml svg vue svelte astro xsl xsd plist rss jinja erb ejs hbs handlebars", syntax: Markup },
    Language {
        names: "css scss sass less",
        syntax: Code(Grammar {
            keywords: "important",
            line_comments: &["//"],
            block_comment: Some(("/*", "*/")),
            word_marks: "-",
            keys: Keys::Braced,
            calls: true,
            has_decorators: true,
            has_variables: true,
            ..NO_WORDS
        }),
    },
    Language { names: "markdown md mdx", syntax: Markdown },
    Language { names: "diff patch udiff", syntax: Diff },
    Language {
        names: "dockerfile docker containerfile",
        syntax: Code(Grammar {
            keywords: "add arg as cmd copy entrypoint env expose from healthcheck label maintainer onbuild run shell stopsignal user volume workdir",
            quotes: &[template("\""), raw("'")],
            word_marks: "-.",
            has_variables: true,
            ignores_case: true,
            ..HASH_COMMENTS
        }),
    },
    Language {
        names: "makefile make mk gnumakefile",
        syntax: Code(Grammar {
            keywords: "define else endef endif export ifdef ifeq ifndef ifneq include override unexport vpath",
            quotes: &[Quote { spans_lines: false, ..template("\"") }, quote("'")],
            word_marks: "-.",
            keys: Keys::Colon,
            has_variables: true,
            ..HASH_COMMENTS
        }),
    },
    Language {
        names: "cmake",
        syntax: Code(Grammar {
            keywords: "else elseif endforeach endfunction endif endmacro endwhile foreach function if macro while",
            constants: "ON OFF TRUE FALSE",
            quotes: &[template("\"")],
            calls: true,
            has_variables: true,
            ..HASH_COMMENTS
        }),
    },
    Language {
        names: "perl pl pm",
        syntax: Code(Grammar {
            keywords: "and cmp die do else elsif eq eval for foreach ge given gt if last le lt my ne next no not or our package print redo require \
                       return say sub unless until use when while xor",
            quotes: &[template("\""), raw("'")],
            calls: true,
            has_variables: true,
            ..HASH_COMMENTS
        }),
    },
    Language {
        names: "r rscript",
        syntax: Code(Grammar {
            keywords: "break else for function if in library next repeat require return while",
            constants: "TRUE FALSE NULL NA NaN Inf",
            quotes: &[long("\""), long("'")],
            word_marks: ".",
            calls: true,
            ..HASH_COMMENTS
        }),
    },
    Language {
        names: "elixir ex exs",
        syntax: Code(Grammar {
            keywords: "after alias and case catch cond def defimpl defmacro defmodule defp defprotocol defstruct do else end fn for if import in not or \
                       quote raise receive require rescue try unless unquote use when with",
            constants: "true false nil",
            quotes: &[long("\"\"\""), long("\""), quote("'")],
            calls: true,
            has_types: true,
            has_decorators: true,
            ..HASH_COMMENTS
        }),
    },
    Language {
        names: "haskell hs elm",
        syntax: Code(Grammar {
            keywords: "as case class data default deriving do else exposing forall foreign hiding if import in infix infixl infixr instance let module \
                       newtype of port qualified then type where",
            line_comments: &["--"],
            block_comment: Some(("{-", "-}")),
            quotes: &[quote("\"")],
            word_marks: "'",
            has_types: true,
            ..NO_WORDS
        }),
    },
    Language {
        names: "terraform tf hcl tfvars nix",
        syntax: Code(Grammar {
            keywords: "assert data dynamic else for for_each if import in inherit let locals module moved output provider rec resource terraform then \
                       variable with",
            constants: "true false null",
            line_comments: &["#", "//"],
            block_comment: Some(("/*", "*/")),
            quotes: &[template("\""), template("''")],
            word_marks: "-",
            keys: Keys::None,
            calls: true,
            ..NO_WORDS
        }),
    },
    Language {
        names: "clojure clj cljs edn lisp scheme scm racket rkt el",
        syntax: Code(Grammar {
            keywords: "and begin case cond declare def define defmacro defmethod defmulti defn defprotocol defrecord defun do doseq fn for if if-let import \
                       in-ns lambda let let* letrec loop ns or quote recur require set! throw try use when when-let while",
            constants: "true false nil",
            line_comments: &[";"],
            quotes: &[long("\"")],
            word_marks: "-?!*+/<>=:",
            ..NO_WORDS
        }),
    },
];
