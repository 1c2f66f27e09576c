import type { ResponseDescription, RouteDescription } from '../route.ts'
import { describeAnswerHeaders } from './openapi-headers.ts'
import { membersOf, type JsonObject, type SchemaReader } from './openapi-schemas.ts'
import { findRecordedAnswer } from './answer-examples.ts'
import { EXAMPLES_OF_TYPES, WRITTEN_ANSWER_EXAMPLES } from './notes/written-answer-examples.ts'
import { operationKey } from './operation-notes.ts'
import { SCIM_TYPE } from '../../wires/scim/scim-wire.ts'
import type { TSchema } from 'typebox'

/** Describes a successful answer of an operation: its headers and each content type of its body. */
export function describeAnswer(
  route: RouteDescription,
  status: number,
  answer: ResponseDescription,
  read: SchemaReader,
): JsonObject {
  const isInference = usesModels(route.access) && route.method === 'POST' && !route.isChargedByCall
  const content = describeContent(route, status, answer, read)
  return {
    description: answer.description,
    headers: describeAnswerHeaders({
      isInference: isInference && status < 300,
      isRepeatable: takesIdempotencyKey(route) && status < 300,
      mayBeOld: route.mayBeOld === true && status < 300,
    }),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  }
}

/** Whether a request of the route may be sent to a model or a machine, which costs money and may fail there. */
export function usesModels(access: RouteDescription['access']): boolean {
  const needed = access?.permissions ?? []
  return needed.includes('models.use') || needed.includes('deployments.manage')
}

export function takesIdempotencyKey({
  method,
  access,
}: Pick<RouteDescription, 'method' | 'access'>): boolean {
  return method === 'POST' && access !== null
}

function describeContent(
  route: RouteDescription,
  status: number,
  { schema, contentType = 'application/json', otherTypes = {} }: ResponseDescription,
  read: SchemaReader,
): JsonObject {
  const describe = (type: string, given: TSchema) => {
    const example = findAnswerExample(route, status, type)
    return { schema: read(given), ...(example === undefined ? {} : { example }) }
  }
  const first = schema ? { [contentType]: describe(contentType, schema) } : {}
  const others = Object.entries(otherTypes).map(([type, other]) => [type, describe(type, other)])
  // Client generators treat the first content type as the default.
  return { ...first, ...(canStream(route, status) ? EVENT_STREAM : {}), ...Object.fromEntries(others) }
}

// A route whose body has a `stream` member can answer with an event stream.
function canStream({ body }: RouteDescription, status: number): boolean {
  return status === 200 && 'stream' in membersOf(body).properties
}

const EVENT_STREAM = {
  'text/event-stream': {
    schema: {
      type: 'string',
      description:
        'With `stream: true`: one `data:` line a chunk, then `data: [DONE]`. Lines that begin with a colon keep the ' +
        'connection alive. A failure in the middle is one `data: {"error": …}` line, and no `[DONE]` follows.',
    },
    example: 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n',
  },
}

/** Returns a recorded answer of the gateway, or a written example. */
function findAnswerExample(route: { method: string; path: string }, status: number, type: string): unknown {
  const name = `${operationKey(route)} ${status}`
  const recordedExample =
    type === 'application/json' || type === SCIM_TYPE ? findRecordedAnswer(name) : undefined
  return recordedExample ?? WRITTEN_ANSWER_EXAMPLES[`${name} ${type}`] ?? EXAMPLES_OF_TYPES[type]
}
