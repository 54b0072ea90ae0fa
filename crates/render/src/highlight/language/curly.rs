//! Languages that look like C, or like most others.

use super::Syntax::Code;
use super::{C_LIKE, Grammar, Language, Quote, long, quote, raw, template};

pub(super) static LANGUAGES: [Language; 16] = [
    Language {
        names: "rust rs",
        syntax: Code(Grammar {
            keywords: "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return \
                       self Self static struct super trait type union unsafe use where while yield bool char f32 f64 i128 i16 i32 i64 i8 isize \
                       str u128 u16 u32 u64 u8 usize",
            constants: "true false None Some Ok Err",
            quotes: &[long("\""), quote("'")],
            string_prefixes: "b c",
            has_attributes: true,
            ..C_LIKE
        }),
    },
    Language {
        names: "javascript js mjs cjs node jsx typescript ts mts cts tsx typescriptreact javascriptreact",
        syntax: Code(Grammar {
            keywords: "abstract as asserts async await break case catch class const continue debugger declare default delete do else enum export \
                       extends finally for from function get if implements import in infer instanceof interface is keyof let namespace new of \
                       override private protected public readonly return satisfies set static super switch this throw try type typeof unique var \
                       void while with yield any boolean never number object string symbol unknown bigint",
            constants: "true false null undefined NaN Infinity",
            quotes: &[template("`"), quote("\""), quote("'")],
            word_marks: "$",
            has_decorators: true,
            ..C_LIKE
        }),
    },
    Language {
        names: "python py py3 pyi python3",
        syntax: Code(Grammar {
            keywords: "and as assert async await break case class continue def del elif else except finally for from global if import in is lambda \
                       match nonlocal not or pass raise return try while with yield self cls",
            constants: "True False None NotImplemented",
            line_comments: &["#"],
            block_comment: None,
            quotes: &[long("\"\"\""), long("'''"), quote("\""), quote("'")],
            string_prefixes: "f r b u fr rf br rb",
            has_decorators: true,
            ..C_LIKE
        }),
    },
    Language {
        names: "go golang",
        syntax: Code(Grammar {
            keywords: "any bool break byte case chan complex128 complex64 const continue default defer else error fallthrough float32 float64 for \
                       func go goto if import int int16 int32 int64 int8 interface map package range return rune select string struct switch type \
                       uint uint16 uint32 uint64 uint8 uintptr var",
            constants: "true false nil iota",
            quotes: &[raw("`"), quote("\""), quote("'")],
            ..C_LIKE
        }),
    },
    Language {
        names: "java",
        syntax: Code(Grammar {
            keywords: "abstract assert boolean break byte case catch char class const continue default do double else enum extends final finally \
                       float for if implements import instanceof int interface long native new package permits private protected public record \
                       return sealed short static strictfp super switch synchronized this throw throws transient try var void volatile while yield",
            quotes: &[long("\"\"\""), quote("\""), quote("'")],
            has_decorators: true,
            ..C_LIKE
        }),
    },
    Language {
        names: "kotlin kt kts",
        syntax: Code(Grammar {
            keywords: "abstract annotation as break by catch class companion const constructor continue crossinline data do else enum expect \
                       external final finally for fun get if import in infix init inline inner interface internal is lateinit noinline object open \
                       operator out override package private protected public reified return sealed set suspend super tailrec this throw try \
                       typealias val value var vararg when where while",
            quotes: &[template("\"\"\""), Quote { spans_lines: false, ..template("\"") }, quote("'")],
            has_decorators: true,
            ..C_LIKE
        }),
    },
    Language {
        names: "c h c++ cpp cc cxx hpp hh hxx objective-c objc m mm cuda cu arduino ino",
        syntax: Code(Grammar {
            keywords: "alignas alignof asm auto bool break case catch char class co_await co_return co_yield concept const const_cast consteval \
                       constexpr constinit continue decltype default delete do double dynamic_cast else enum explicit export extern final float for \
                       friend goto if inline int long mutable namespace new noexcept operator override private protected public register \
                       reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch template this \
                       throw try typedef typeid typename union unsigned using virtual void volatile while size_t int8_t int16_t int32_t int64_t \
                       uint8_t uint16_t uint32_t uint64_t",
            constants: "true false NULL nullptr",
            string_prefixes: "l u u8",
            has_preprocessor: true,
            ..C_LIKE
        }),
    },
    Language {
        names: "csharp c# cs",
        syntax: Code(Grammar {
            keywords: "abstract as async await base bool break byte case catch char checked class const continue decimal default delegate do double \
                       else enum event explicit extern finally fixed float for foreach get if implicit in init int interface internal is lock long \
                       namespace new object operator out override params partial private protected public readonly record ref required return \
                       sbyte sealed set short sizeof static string struct switch this throw try typeof uint ulong unchecked unsafe ushort using \
                       var virtual void volatile when where while yield",
            quotes: &[long("\"\"\""), quote("\""), quote("'")],
            has_preprocessor: true,
            ..C_LIKE
        }),
    },
    Language {
        names: "swift",
        syntax: Code(Grammar {
            keywords: "actor any as associatedtype async await break case catch class continue convenience default defer deinit do else enum \
                       extension fallthrough fileprivate final for func get guard if import in indirect infix init inout internal is isolated lazy \
                       let mutating nonisolated open operator override postfix prefix private protocol public repeat required rethrows return self \
                       Self set some static struct subscript super switch throw throws try typealias unowned var weak where while",
            constants: "true false nil",
            quotes: &[long("\"\"\""), quote("\"")],
            has_decorators: true,
            ..C_LIKE
        }),
    },
    Language {
        names: "scala sc groovy gradle",
        syntax: Code(Grammar {
            keywords: "abstract as boolean break case catch class def do double else enum export extends extension final finally float for given if \
                       implicit import in inline int interface lazy long match new object opaque override package private protected public return \
                       sealed static super switch then this throw throws trait transparent try type using val var void while with yield",
            quotes: &[template("\"\"\""), Quote { spans_lines: false, ..template("\"") }, quote("'")],
            has_decorators: true,
            ..C_LIKE
        }),
    },
    Language {
        names: "dart",
        syntax: Code(Grammar {
            keywords: "abstract as assert async await base bool break case catch class const continue covariant default deferred do double dynamic \
                       else enum export extends extension external factory final finally for get hide if implements import in int interface is \
                       late library mixin new num of on operator part required rethrow return sealed set show static String super switch sync this \
                       throw try typedef var void when while with yield",
            quotes: &[
                template("\"\"\""),
                template("'''"),
                Quote { spans_lines: false, ..template("\"") },
                Quote { spans_lines: false, ..template("'") },
            ],
            string_prefixes: "r",
            has_decorators: true,
            ..C_LIKE
        }),
    },
    Language {
        names: "zig",
        syntax: Code(Grammar {
            keywords: "align allowzero and anyframe anytype asm async await bool break callconv catch comptime const continue defer else enum \
                       errdefer error export extern f32 f64 fn for i16 i32 i64 i8 if inline isize noalias noreturn opaque or orelse packed pub \
                       resume return struct suspend switch test threadlocal try type u16 u32 u64 u8 union unreachable usize usingnamespace var void \
                       volatile while",
            constants: "true false null undefined",
            block_comment: None,
            has_decorators: true,
            ..C_LIKE
        }),
    },
    Language {
        names: "php",
        syntax: Code(Grammar {
            keywords: "abstract and array as bool break callable case catch class clone const continue declare default do echo else elseif empty \
                       enddeclare endfor endforeach endif endswitch endwhile enum extends final finally float fn for foreach function global goto \
                       if implements include include_once instanceof insteadof int interface isset iterable list match mixed namespace new or \
                       parent print private protected public readonly require require_once return self static string switch throw trait try unset \
                       use var void while xor yield",
            line_comments: &["//", "#"],
            quotes: &[template("\""), long("'")],
            has_variables: true,
            ignores_case: true,
            ..C_LIKE
        }),
    },
    Language {
        names: "ruby rb rake gemspec gemfile rakefile crystal cr",
        syntax: Code(Grammar {
            keywords: "alias and attr_accessor attr_reader attr_writer begin break case class def defined? do else elsif end ensure extend for if in \
                       include loop module next not or private protected public raise redo require require_relative rescue retry return self super \
                       then undef unless until when while yield",
            constants: "true false nil",
            line_comments: &["#"],
            block_comment: Some(("=begin", "=end")),
            quotes: &[long("\""), long("'"), quote("`")],
            has_decorators: true,
            ..C_LIKE
        }),
    },
    Language {
        names: "lua luau",
        syntax: Code(Grammar {
            keywords: "and break do else elseif end for function goto if in local not or repeat return self then until while",
            constants: "true false nil",
            line_comments: &["--"],
            block_comment: Some(("--[[", "]]")),
            has_types: false,
            ..C_LIKE
        }),
    },
    Language {
        names: "protobuf proto graphql gql thrift",
        syntax: Code(Grammar {
            keywords: "bool bytes double enum extend extends fixed32 fixed64 float fragment implements import input int32 int64 interface map message \
                       mutation on oneof option optional package query repeated required reserved returns rpc scalar schema service sint32 sint64 \
                       stream string subscription syntax type uint32 uint64 union",
            line_comments: &["//", "#"],
            quotes: &[long("\"\"\""), quote("\""), quote("'")],
            has_decorators: true,
            has_variables: true,
            ..C_LIKE
        }),
    },
];
