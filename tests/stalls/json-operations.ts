import type { TestGateway } from '../support/start-test-gateway.ts'

export interface Operation {
  readonly method: string
  readonly path: string
  readonly members: readonly string[]
  readonly example: Readonly<Record<string, unknown>>
}

interface Described {
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema?: Schema; readonly example?: Readonly<Record<string, unknown>> }>
    >
  }
}

interface Schema {
  readonly $ref?: string
  readonly properties?: Record<string, unknown>
}

/** All routes that take a JSON body. */
export async function listOperations(gateway: TestGateway): Promise<Operation[]> {
  const { body: document } = await gateway.request('GET', '/openapi.json')
  const membersOf = (schema: Schema | undefined): string[] => {
    const name = schema?.$ref?.split('/').at(-1)
    const resolved: Schema = name === undefined ? schema : document.components.schemas[name]
    return Object.keys(resolved?.properties ?? {})
  }
  return Object.entries<Record<string, Described>>(document.paths).flatMap(([template, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody }]) => {
      const json = requestBody?.content['application/json']
      if (json === undefined) return []
      const path = template.replaceAll(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000')
      return [
        { method: method.toUpperCase(), path, members: membersOf(json.schema), example: json.example ?? {} },
      ]
    }),
  )
}

/** Returns the example with a member whose value is this text. */
export function withMember({ example }: Operation, name: string, value: string): string {
  const { [name]: _replaced, ...rest } = example
  const others = JSON.stringify(rest).slice(1, -1)
  return `{${others === '' ? '' : `${others},`}${JSON.stringify(name)}:${value}}`
}
