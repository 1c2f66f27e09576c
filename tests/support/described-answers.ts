interface Document {
  readonly paths: Record<string, Record<string, { responses: Record<string, Answer> }>>
  readonly components: { readonly responses: Record<string, Answer> }
}

interface Answer {
  readonly $ref?: string
  readonly content?: Record<string, unknown>
}

interface SeenAnswer {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly contentType: string | null
}

// The same for every gateway in this process.
let document: Document | null = null
let patterns: readonly { readonly template: string; readonly pattern: RegExp }[] | null = null

/** Checks the answers of a gateway in a test against its own OpenAPI document. */
export class DescribedAnswers {
  readonly #seen = new Map<string, SeenAnswer>()

  note(method: string, url: string, response: Response): void {
    // It is the answer of another path.
    if (response.redirected) return
    const path = url.split('?', 1)[0] ?? url
    const contentType = response.headers.get('content-type')?.split(';', 1)[0] ?? null
    const { status } = response
    this.#seen.set(`${method} ${path} ${status} ${contentType}`, { method, path, status, contentType })
  }

  /** Throws if an operation answered with a status or a content type that the document does not name. */
  async check(baseUrl: string): Promise<void> {
    document ??= await readDocument(baseUrl)
    const known = document
    if (known === null) return
    const missing = [...this.#seen.values()].filter((answer) => !isDescribed(known, answer))
    if (missing.length === 0) return
    throw new Error(
      `answers that the OpenAPI document does not describe:\n${missing.map((answer) => JSON.stringify(answer)).join('\n')}`,
    )
  }
}

/** Returns null if the gateway no longer answers. */
async function readDocument(baseUrl: string): Promise<Document | null> {
  try {
    const response = await fetch(`${baseUrl}/openapi.json`, { signal: AbortSignal.timeout(10_000) })
    return response.ok ? ((await response.json()) as Document) : null
  } catch {
    return null
  }
}

// Answers that belong to no operation need no description: a wrong path, a wrong method.
function isDescribed(
  { paths, components }: Document,
  { method, path, status, contentType }: SeenAnswer,
): boolean {
  const template = path in paths ? path : findTemplate(paths, path)
  const operation = template === undefined ? undefined : paths[template]?.[method.toLowerCase()]
  if (operation === undefined) return true
  const given = operation.responses[status]
  const name = given?.$ref?.split('/').at(-1)
  const answer = name === undefined ? given : components.responses[name]
  if (answer === undefined) return false
  const types = Object.keys(answer.content ?? {})
  // A file of the media store has the type it was created with.
  return (
    contentType === null || types.length === 0 || path.startsWith('/media/') || types.includes(contentType)
  )
}

function findTemplate(paths: Document['paths'], path: string): string | undefined {
  patterns ??= Object.keys(paths).map((template) => ({ template, pattern: toPattern(template) }))
  return patterns.find(({ pattern }) => pattern.test(path))?.template
}

function toPattern(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}
