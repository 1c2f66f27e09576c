import { lengthOf, memberOf, isTrue, toText } from './template-values.ts'
import type { TemplateFunctions } from './template-functions.ts'
import type { BlockNode, Call, Operand, Pipe, TemplateNode } from './template-nodes.ts'

/** Where a range was left. */
type Left = 'break' | 'continue' | null

type Variables = ReadonlyMap<string, { value: unknown }>

interface Scope {
  readonly dot: unknown
  variables: Variables
}

/** Writes the text that a template makes of a value. */
export function renderTemplate(
  nodes: readonly TemplateNode[],
  value: unknown,
  functions: TemplateFunctions,
): string {
  const parts: string[] = []
  const renderer = new Renderer(functions, (text) => parts.push(text))
  renderer.renderAll(nodes, { dot: value, variables: new Map([['$', { value }]]) })
  return parts.join('')
}

class Renderer {
  readonly #functions: TemplateFunctions
  readonly #write: (text: string) => void

  constructor(functions: TemplateFunctions, write: (text: string) => void) {
    this.#functions = functions
    this.#write = write
  }

  /** Renders in a scope of its own: variables that are made in it end with it. */
  renderAll(nodes: readonly TemplateNode[], outer: Scope): Left {
    const scope = { ...outer }
    for (const node of nodes) {
      const left = this.#render(node, scope)
      if (left !== null) return left
    }
    return null
  }

  #render(node: TemplateNode, scope: Scope): Left {
    switch (node.kind) {
      case 'text':
        this.#write(node.text)
        return null
      case 'print':
        this.#write(toText(this.#evaluate(node.pipe, scope)))
        return null
      case 'set':
        this.#set(node.name, this.#evaluate(node.pipe, scope), node.isNew, scope)
        return null
      case 'break':
      case 'continue':
        return node.kind
      case 'range':
        return this.#renderRange(node, scope)
      case 'if':
      case 'with': {
        const value = this.#evaluate(node.pipe, scope)
        if (!isTrue(value)) return this.renderAll(node.otherwise, scope)
        return this.renderAll(node.body, node.kind === 'with' ? { ...scope, dot: value } : scope)
      }
    }
  }

  #renderRange({ pipe, variables, body, otherwise }: BlockNode, scope: Scope): Left {
    const list = this.#evaluate(pipe, scope)
    if (lengthOf(list) === 0) return this.renderAll(otherwise, scope)
    if (typeof list !== 'object' || list === null) throw new Error('{{range}} takes a list or an object')
    const entries: [unknown, unknown][] = Array.isArray(list) ? [...list.entries()] : Object.entries(list)
    for (const [key, value] of entries) {
      const named = variables.length === 2 ? [key, value] : [value]
      const own = variables.map((name, index) => [name, { value: named[index] }] as const)
      const left = this.renderAll(body, { dot: value, variables: new Map([...scope.variables, ...own]) })
      if (left === 'break') break
    }
    return null
  }

  #set(name: string, value: unknown, isNew: boolean, scope: Scope): void {
    if (isNew) {
      scope.variables = new Map([...scope.variables, [name, { value }]])
      return
    }
    find(name, scope).value = value
  }

  #evaluate(pipe: Pipe, scope: Scope): unknown {
    let passed: readonly unknown[] = []
    for (const call of pipe) passed = [this.#call(call, scope, passed)]
    return passed[0]
  }

  #call([first, ...others]: Call, scope: Scope, passed: readonly unknown[]): unknown {
    if (first?.kind === 'function') {
      const named = this.#functions.get(first.name)
      if (named === undefined) throw new Error(`there is no function "${first.name}"`)
      return named(...others.map((operand) => this.#read(operand, scope)), ...passed)
    }
    if (first === undefined || others.length > 0 || passed.length > 0)
      throw new Error('only a function takes values')
    return this.#read(first, scope)
  }

  #read(operand: Operand, scope: Scope): unknown {
    if (operand.kind === 'literal') return operand.value
    if (operand.kind === 'function') return this.#call([operand], scope, [])
    const { base, names } = operand
    const value =
      base === '.'
        ? scope.dot
        : 'pipe' in base
          ? this.#evaluate(base.pipe, scope)
          : find(base.variable, scope).value
    return names.reduce(memberOf, value)
  }
}

function find(name: string, { variables }: Scope): { value: unknown } {
  const found = variables.get(name)
  if (found === undefined) throw new Error(`there is no variable "${name}"`)
  return found
}
