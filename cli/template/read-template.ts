import { readTokens, type Token } from './read-tokens.ts'
import type { BlockNode, Call, Operand, Pipe, TemplateNode } from './template-nodes.ts'

const DEPTH_MAX = 100
const BLOCKS: ReadonlySet<string> = new Set(['if', 'with', 'range'])
const LITERALS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['nil', null],
])

/** Reads a template. Throws with what is wrong in it. */
export function readTemplate(template: string): readonly TemplateNode[] {
  const reader = new TemplateReader(readTokens(template))
  const { nodes, end } = reader.readNodes()
  if (end !== null) throw new Error(`{{${end}}} has no beginning`)
  return nodes
}

class TemplateReader {
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  /** Reads up to an `end` or `else`, whose action has been read up to that word. */
  readNodes(): { nodes: TemplateNode[]; end: 'end' | 'else' | null } {
    const nodes: TemplateNode[] = []
    for (let token = this.#next(); token !== undefined; token = this.#next()) {
      if (token.kind === 'text') {
        nodes.push({ kind: 'text', text: token.text })
        continue
      }
      this.#skipSpace()
      const word = this.#peekText('name')
      if (word === 'end' || word === 'else') {
        this.#at += 1
        return { nodes, end: word }
      }
      const node = this.#readAction(word)
      if (node !== null) nodes.push(node)
    }
    return { nodes, end: null }
  }

  #readAction(word: string | null): TemplateNode | null {
    if (word !== null && BLOCKS.has(word)) {
      this.#at += 1
      return this.#nested(() => this.#readBlock(word as BlockNode['kind']))
    }
    if (word === 'break' || word === 'continue') {
      this.#at += 1
      this.#close()
      return { kind: word }
    }
    const variable = this.#readVariables()
    if (variable.names.length > 1) throw new Error('only a range has two variables')
    const [name] = variable.names
    const pipe = this.#readPipe()
    this.#close()
    return name === undefined ? { kind: 'print', pipe } : { kind: 'set', name, pipe, isNew: variable.isNew }
  }

  #readBlock(kind: BlockNode['kind']): BlockNode {
    const variables = this.#readVariables()
    if (variables.names.length > 0 && (kind !== 'range' || !variables.isNew))
      throw new Error(`{{${kind}}} takes no such variable`)
    const pipe = this.#readPipe()
    this.#close()
    const { nodes: body, end } = this.readNodes()
    const otherwise = this.#readOtherwise(kind, end)
    return { kind, pipe, variables: variables.names, body, otherwise }
  }

  /** Reads the part between `else` and `end`. */
  #readOtherwise(kind: BlockNode['kind'], end: 'end' | 'else' | null): TemplateNode[] {
    if (end === null) throw new Error(`{{${kind}}} has no {{end}}`)
    this.#skipSpace()
    if (end === 'end') {
      this.#close()
      return []
    }
    if (this.#peekText('name') === kind && kind !== 'range') {
      this.#at += 1
      return [this.#nested(() => this.#readBlock(kind))]
    }
    this.#close()
    const { nodes, end: last } = this.readNodes()
    if (last !== 'end') throw new Error(`{{${kind}}} has no {{end}}`)
    this.#close()
    return nodes
  }

  /** Reads `$name :=`, `$name =` or `$index, $name :=`, or nothing if there is none of them. */
  #readVariables(): { names: string[]; isNew: boolean } {
    const begin = this.#at
    const names: string[] = []
    this.#skipSpace()
    for (let name = this.#takeText('variable'); name !== null; name = this.#takeText('variable')) {
      names.push(name)
      this.#skipSpace()
      const sign = this.#takeText('sign')
      if (sign === ':=' || sign === '=') return { names, isNew: sign === ':=' }
      if (sign !== ',') break
      this.#skipSpace()
    }
    this.#at = begin
    return { names: [], isNew: false }
  }

  #readPipe(): Pipe {
    const calls: Call[] = []
    do {
      calls.push(this.#readCall())
    } while (this.#takeText('sign', '|') !== null)
    return calls
  }

  #readCall(): Call {
    const operands: Operand[] = []
    this.#skipSpace()
    for (let operand = this.#readOperand(); operand !== null; operand = this.#readOperand()) {
      operands.push(operand)
      this.#skipSpace()
    }
    if (operands.length === 0) throw new Error('a value is missing')
    return operands
  }

  #readOperand(): Operand | null {
    const token = this.#tokens[this.#at]
    if (token === undefined || !('text' in token)) return null
    if (token.kind === 'sign' && token.text !== '(' && token.text !== '.') return null
    if (token.kind !== 'field') this.#at += 1
    if (token.kind === 'string') return { kind: 'literal', value: readString(token.text) }
    if (token.kind === 'number') return { kind: 'literal', value: Number(token.text) }
    if (token.kind === 'variable')
      return { kind: 'path', base: { variable: token.text }, names: this.#readNames() }
    if (token.kind === 'name') {
      const literal = LITERALS.get(token.text)
      return literal === undefined
        ? { kind: 'function', name: token.text }
        : { kind: 'literal', value: literal }
    }
    if (token.text !== '(') return { kind: 'path', base: '.', names: this.#readNames() }
    const pipe = this.#nested(() => this.#readPipe())
    if (this.#takeText('sign', ')') === null) throw new Error('")" is missing')
    return { kind: 'path', base: { pipe }, names: this.#readNames() }
  }

  /** Reads the members after a value: `.a.b`. */
  #readNames(): string[] {
    const names: string[] = []
    for (let name = this.#takeText('field'); name !== null; name = this.#takeText('field'))
      names.push(name.slice(1))
    return names
  }

  #close(): void {
    this.#skipSpace()
    if (this.#next()?.kind !== 'close') throw new Error('an action has a word too many')
  }

  #nested<Result>(read: () => Result): Result {
    this.#depth += 1
    if (this.#depth > DEPTH_MAX) throw new Error(`it is nested deeper than ${DEPTH_MAX} levels`)
    const result = read()
    this.#depth -= 1
    return result
  }

  #next(): Token | undefined {
    this.#at += 1
    return this.#tokens[this.#at - 1]
  }

  #skipSpace(): void {
    if (this.#tokens[this.#at]?.kind === 'space') this.#at += 1
  }

  #peekText(kind: Token['kind']): string | null {
    const token = this.#tokens[this.#at]
    return token?.kind === kind && 'text' in token ? token.text : null
  }

  #takeText(kind: Token['kind'], wanted: string | null = null): string | null {
    const text = this.#peekText(kind)
    if (text === null || (wanted !== null && text !== wanted)) return null
    this.#at += 1
    return text
  }
}

function readString(text: string): string {
  if (text.startsWith('`')) return text.slice(1, -1)
  try {
    return JSON.parse(text) as string
  } catch {
    throw new Error(`${text} is no string`)
  }
}
