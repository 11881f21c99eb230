# SPDX-License-Identifier: Apache-2.0
# Prints a row "line lines limit name kind" for each C++ file and for each function in it:
# outermost bodies, so that a lambda counts as part of the function around it. Braces are matched
# outside of comments, literals and directives; that is exact for code that compiles and whose
# #if branches are balanced.

# Whether the code before an opening brace, outside of functions, is the head of a function, of a
# "scope" (class, namespace) or of "data" (an initialiser).
function kind_of(code,    tail) {
  while (match(code, /^ *(template *<|\[\[|public:|private:|protected:|inline |static |constexpr )/)) {
    if (code ~ /^ *template/) code = after_angles(code)
    else if (code ~ /^ *\[\[/) code = substr(code, index(code, "]]") + 2)
    else code = substr(code, RSTART + RLENGTH)
  }
  if (code ~ /^ *(class|struct|union|enum|namespace)[ {]/ || code ~ /^ *(class|struct|union|enum|namespace)$/ ||
      code ~ /^ *extern *"" *$/) return "scope"
  if (code ~ /(=|,) *\[[^]]*\] *$/) return "function"
  if (code !~ /\)/) return "data"
  if (code ~ /\) *(noexcept *)?: *[A-Za-z_]/) return "function"  # a constructor's initialisers
  tail = code
  sub(/^.*\)/, "", tail)
  return tail ~ /^ *((const|noexcept|override|final|mutable|try|&|&&) *)*(->.*|requires.*)?$/ ? "function" : "data"
}

# The text after the template parameter list it begins with.
function after_angles(code,    i, c, depth) {
  for (i = index(code, "<"); i <= length(code); ++i) {
    c = substr(code, i, 1)
    if (c == "<") ++depth
    if (c == ">" && --depth == 0) return substr(code, i + 1)
  }
  return ""
}

# "parse" of "int Reader::parse(int n) const"; "Suite.fact" of "TEST(Suite, fact)".
function name_of(code,    before, name) {
  if (match(code, /(^| )(TYPED_)?TEST(_[FP])? *\([^)]*\)/)) {
    name = substr(code, RSTART, RLENGTH)
    gsub(/^[^(]*\( *| *\).*/, "", name)
    gsub(/ *, */, ".", name)
    return name
  }
  for (; match(code, /[A-Za-z_~][A-Za-z0-9_~:]* *\(/); code = substr(code, RSTART + RLENGTH)) {
    before = before substr(code, 1, RSTART - 1)
    name = substr(code, RSTART, RLENGTH - 1)
    if (gsub(/</, "<", before) == gsub(/>/, ">", before) && name !~ /^(noexcept|requires|decltype|alignas) *$/) {
      sub(/ +$/, "", name)
      sub(/^.*::/, "", name)
      return name
    }
    before = before name
  }
  return code ~ /operator/ ? "operator" : "lambda"
}

function end_function() {
  if (function_name != "") {
    print function_line, function_end - function_line + 1, 60, file ":" function_name, "function"
  }
  function_name = ""
}

function end_file(    header) {
  if (file == "") return
  end_function()
  header = file ~ /\.h$/
  print 1, lines, header ? 300 : 500, file, header ? "header" : "source"
}

function open_brace() {
  if (inside > 0) { ++inside; return }
  if (parens > 0) { inside = 1; inside_kind = "argument"; return }
  inside_kind = resumed ? "function" : kind_of(head)
  if (inside_kind == "scope") { head = ""; return }
  inside = 1
  if (inside_kind == "function" && !resumed) {
    function_name = name_of(head)
    function_line = head_line
  }
  resumed = 0
}

function close_brace() {
  if (inside > 0 && --inside > 0) return
  if (inside_kind == "function") {
    function_end = FNR
    ended = 1
  }
  if (inside_kind != "argument") head = ""
  inside_kind = ""
}

# One character of code outside of comments, literals and directives.
function code_char(c) {
  # After a closed body only "," or "{" go on with the same function: `: a_{1}, b_{2} {`.
  if (ended && c != " ") {
    ended = 0
    if (c == "," || c == "{") resumed = 1
    else end_function()
  }
  if (c == "{") { open_brace(); return }
  if (c == "}") { close_brace(); return }
  if (inside > 0) return
  if (c == "(") ++parens
  if (c == ")") --parens
  if (c == ";" && parens == 0) { head = ""; return }
  if (head == "" && c == " ") return
  if (head == "") head_line = FNR
  head = head c
}

FNR == 1 {
  end_file()
  file = FILENAME
  head = function_name = ""
  inside = parens = ended = resumed = in_comment = in_raw = in_directive = 0
}

{
  lines = FNR
  line = $0
  if (in_directive || (!in_comment && !in_raw && line ~ /^[ \t]*#/)) {
    in_directive = line ~ /\\$/
    next
  }
  # Most lines of a body can neither end it nor hide what would.
  if (inside > 0 && !in_raw && !in_comment && line !~ /[{}"'\/]/) next
  n = length(line)
  for (i = 1; i <= n; ++i) {
    if (in_raw) {
      at = index(substr(line, i), raw_end)
      if (at == 0) break
      i += at + length(raw_end) - 2
      in_raw = 0
      continue
    }
    if (in_comment) {
      at = index(substr(line, i), "*/")
      if (at == 0) break
      i += at
      in_comment = 0
      continue
    }
    c = substr(line, i, 1)
    if (c == "/" && substr(line, i + 1, 1) == "/") break
    if (c == "/" && substr(line, i + 1, 1) == "*") { in_comment = 1; ++i; continue }
    if (c == "\"" && substr(line, 1, i - 1) ~ /(^|[^A-Za-z0-9_])(u8|u|U|L)?R$/) {
      at = index(substr(line, i), "(")
      raw_end = ")" substr(line, i + 1, at - 2) "\""
      in_raw = 1
      i += at - 1
      code_char("\""); code_char("\"")
      continue
    }
    if (c == "'" && substr(line, i - 1, 1) ~ /[0-9A-Fa-f]/ && substr(line, i + 1, 1) ~ /[0-9A-Fa-f]/ &&
        substr(line, i + 2, 1) != "'") continue  # 1'000
    if (c == "\"" || c == "'") {
      for (++i; i <= n && substr(line, i, 1) != c; ++i) if (substr(line, i, 1) == "\\") ++i
      code_char(c); code_char(c)
      continue
    }
    code_char(c == "\t" ? " " : c)
  }
  code_char(" ")
}

END { end_file() }
