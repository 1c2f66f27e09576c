/** Examples of operations. An object that has a schema of its own is `{ "$ref": "<schema>" }`, and is kept once. */
export interface SharedExamples {
  readonly operations: Record<string, unknown>
  readonly schemas: Record<string, unknown>
}

interface Schema {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

interface NamedExample {
  readonly name: string
  readonly schema: Schema
  readonly body: unknown
}

/** The first example of a schema is that of all operations. */
export function shareExamples(
  examples: readonly NamedExample[],
  components: Readonly<Record<string, Schema>>,
): SharedExamples {
  const schemas: Record<string, unknown> = {}

  const share = (value: unknown, schema: Schema): unknown => {
    if (Array.isArray(value)) return shareItems(value, schema.items ?? {})
    if (typeof value !== 'object' || value === null) return value
    const name = nameOf(schema)
    if (name === null) return shareMembers(value, schema)
    if (!(name in schemas)) {
      schemas[name] = null
      schemas[name] = shareMembers(value, components[name] ?? {})
    }
    return { $ref: name }
  }

  const shareItems = (items: readonly unknown[], schema: Schema): unknown[] => {
    const shared = items.map((item) => share(item, schema))
    // Two items with the same example show no more than one.
    return nameOf(schema) === null ? shared : shared.slice(0, 1)
  }

  const shareMembers = (value: object, { properties = {} }: Schema): object =>
    Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, share(member, properties[name] ?? {})]),
    )

  const operations = Object.fromEntries(examples.map(({ name, schema, body }) => [name, share(body, schema)]))
  return { operations, schemas }
}

/** Returns the name of a schema, also of one that may be null instead. */
function nameOf({ $ref, anyOf = [] }: Schema): string | null {
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1)
  const named = anyOf.filter((branch) => branch.$ref !== undefined)
  const [only] = named
  return named.length === 1 && anyOf.length === 2 && only !== undefined ? nameOf(only) : null
}

/** Writes one line for each example. */
export function writeLines({ operations, schemas }: SharedExamples): string {
  const write = (examples: Record<string, unknown>) =>
    Object.entries(examples)
      .map(([name, example]) => `${JSON.stringify(name)}: ${JSON.stringify(example)}`)
      .join(',\n')
  return `{\n"operations": {\n${write(operations)}\n},\n"schemas": {\n${write(schemas)}\n}\n}\n`
}
