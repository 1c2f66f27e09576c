/** A template as it was read: text, and actions in `{{` and `}}`. */
export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'print'; readonly pipe: Pipe }
  | { readonly kind: 'set'; readonly name: string; readonly pipe: Pipe; readonly isNew: boolean }
  | { readonly kind: 'break' | 'continue' }
  | BlockNode

/** An action up to its `{{end}}`. */
export interface BlockNode {
  readonly kind: 'if' | 'with' | 'range'
  readonly pipe: Pipe
  /** The variables of a range: that of the element, or of the index and the element. */
  readonly variables: readonly string[]
  readonly body: readonly TemplateNode[]
  readonly otherwise: readonly TemplateNode[]
}

/** Calls whose result is the last argument of the next one. */
export type Pipe = readonly Call[]

/** A function with its arguments, or one value. */
export type Call = readonly Operand[]

export type Operand =
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  /** Members of the value at hand, of a variable, or of what a pipe in parentheses returns. */
  | {
      readonly kind: 'path'
      readonly base: '.' | { variable: string } | { pipe: Pipe }
      readonly names: readonly string[]
    }
