import type { GbnfJsonSchema } from 'node-llama-cpp'

/**
 * Writes a grammar for the JSON that a schema allows. The JSON is on one line, because many chat templates end an answer with a
 * line break. The length of numbers is limited, so that all of them can be parsed. Strings contain only code points that UTF-8
 * has, because others are replaced by several characters.
 */
export function writeGrammar(schema: GbnfJsonSchema): string {
  const writer = new GrammarWriter()
  return [`root ::= ${writer.write(schema)}`, ...writer.rules, VALUES].join('\n')
}

const VALUES = String.raw`space ::= " "?
null ::= "null"
boolean ::= "true" | "false"
integer ::= "-"? ("0" | [1-9] [0-9]{0,14})
number ::= integer ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?
char ::= [ !#-\[\]-~\u0080-\uD7FF\uE000-\U0010FFFF] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})
string ::= "\"" char* "\""
day ::= [0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [1-2] [0-9] | "3" [0-1])
hour ::= ([0-1] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{3})? ("Z" | [+-] ([0-1] [0-9] | "2" [0-3]) ":" [0-5] [0-9])
date ::= "\"" day "\""
time ::= "\"" hour "\""
date-time ::= "\"" day "T" hour "\""
member ::= string ":" space any
object ::= "{" space (member ("," space member)*)? space "}"
array ::= "[" space (any ("," space any)*)? space "]"
any ::= object | array | string | number | boolean | null`

class GrammarWriter {
  readonly rules: string[] = []
  /** Rule names by definition: those of the whole schema, or of a part with its own `$defs` while that part is written. */
  #names: ReadonlyMap<string, string> = new Map()
  #definitions = 0
  #parts = 0

  write(schema: GbnfJsonSchema): string {
    const definitions = Object.entries(definitionsOf(schema))
    if (definitions.length === 0) return this.#writeShape(schema)
    const outer = this.#names
    const named = definitions.map(([name, definition]) => {
      this.#definitions += 1
      return { name, definition, rule: `definition-${this.#definitions}` }
    })
    this.#names = new Map(named.map(({ name, rule }) => [name, rule]))
    for (const { rule, definition } of named) this.rules.push(`${rule} ::= ${this.#writeShape(definition)}`)
    const text = this.#writeShape(schema)
    this.#names = outer
    return text
  }

  #writeShape(schema: GbnfJsonSchema): string {
    if ('const' in schema) return writeLiteral(schema.const)
    if ('enum' in schema) return writeChoice(schema.enum.map((value) => writeLiteral(value)))
    if ('oneOf' in schema) return writeChoice(schema.oneOf.map((one) => this.#name(one)))
    if ('$ref' in schema) return this.#names.get(schema.$ref.slice('#/$defs/'.length)) ?? 'any'
    if ('properties' in schema || schema.type === 'object') return this.#writeObject(schema)
    if (schema.type === 'array') return this.#writeArray(schema)
    if (schema.type === 'string') return writeString(schema)
    return writeChoice(typeof schema.type === 'string' ? [schema.type] : [...schema.type])
  }

  /** Writes a part as a separate rule, so that rules are not nested too deeply. Returns the rule name. */
  #name(schema: GbnfJsonSchema): string {
    const text = this.write(schema)
    if (/^[a-z0-9-]+$/.test(text)) return text
    this.#parts += 1
    const name = `part-${this.#parts}`
    this.rules.push(`${name} ::= ${text}`)
    return name
  }

  #writeObject(schema: Extract<GbnfJsonSchema, { type: 'object' }>): string {
    const { additionalProperties: others } = schema
    const members = Object.entries(schema.properties ?? {}).map(
      ([name, property]) => `${writeLiteral(name)} ":" space ${this.#name(property)}`,
    )
    const more =
      others === undefined || others === false
        ? null
        : others === true
          ? 'member'
          : `string ":" space ${this.#name(others)}`
    if (members.length === 0)
      return more === null ? '"{" space "}"' : `"{" space ((${more}) ("," space (${more}))*)? space "}"`
    const rest = more === null ? '' : ` ("," space (${more}))*`
    return `"{" space ${members.join(' "," space ')}${rest} space "}"`
  }

  #writeArray(schema: Extract<GbnfJsonSchema, { type: 'array' }>): string {
    const first = (schema.prefixItems ?? []).slice(0, schema.maxItems).map((item) => this.#name(item))
    const item = schema.items === undefined ? 'any' : this.#name(schema.items)
    const min = Math.max(0, (schema.minItems ?? 0) - first.length)
    const max = schema.maxItems === undefined ? null : Math.max(min, schema.maxItems - first.length)
    if (first.length > 0) {
      const rest = max === 0 ? '' : ` ${repeat(`("," space ${item})`, min, max)}`
      return `"[" space ${first.join(' "," space ')}${rest} space "]"`
    }
    if (max === 0) return '"[" space "]"'
    const others = repeat(`("," space ${item})`, Math.max(0, min - 1), max === null ? null : max - 1)
    const all = `${item} ${others}`
    return `"[" space ${min === 0 ? `(${all})?` : all} space "]"`
  }
}

function writeString(schema: GbnfJsonSchema): string {
  if ('format' in schema) return schema.format
  const { minLength = 0, maxLength } = schema as { minLength?: number; maxLength?: number }
  if (minLength === 0 && maxLength === undefined) return 'string'
  return `"\\"" ${repeat('char', minLength, maxLength ?? null)} "\\""`
}

/** Engines limit the number of repetitions of one part. */
const REPETITIONS_MAX = 500
const BLOCK = 100

/**
 * Repeats a part. A large maximum is written as blocks of the part, and is at most one block smaller than the given one.
 */
function repeat(part: string, min: number, max: number | null): string {
  if (max === null) return `${part}{${min},}`
  if (max - min <= REPETITIONS_MAX) return `${part}{${min},${max}}`
  const blocks = Math.floor((max - min) / BLOCK)
  const least = min === 0 ? '' : `${part}{${min}} `
  return `${least}(${part}{${BLOCK}}){0,${blocks - 1}} ${part}{0,${BLOCK}}`
}

function writeChoice(options: readonly string[]): string {
  return options.length === 1 ? options.join('') : `(${options.join(' | ')})`
}

/** Writes the JSON of a value as a grammar literal. `JSON.stringify` has already escaped control characters. */
function writeLiteral(value: string | number | boolean | null): string {
  return `"${JSON.stringify(value).replaceAll(/[\\"]/g, String.raw`\$&`)}"`
}

function definitionsOf(schema: GbnfJsonSchema): Readonly<Record<string, GbnfJsonSchema>> {
  return '$defs' in schema ? ((schema.$defs ?? {}) as Record<string, GbnfJsonSchema>) : {}
}
