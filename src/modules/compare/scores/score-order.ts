import { Type, type Static } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import { nullable } from '../../../wires/nullable.ts'
import { checkExpected } from './score-output.ts'

const SCORES_MAX = 10
const WEBHOOKS_MAX = 2
const VALUE_LENGTH_MAX = 20_000
const SCHEMA_LENGTH_MAX = 20_000

const OF_TYPE = 'How the answer is scored.'

const named = {
  name: nullable(
    Type.String({ minLength: 1, maxLength: 64, description: 'Of its column. Its type, unless told.' }),
  ),
}
const Value = nullable(
  Type.String({
    minLength: 1,
    maxLength: VALUE_LENGTH_MAX,
    description: 'What is expected of every answer. Without it, the text that the prompt expects.',
  }),
)

/** One score of every answer, as a client orders it. */
const ScoreInput = Type.Union([
  Type.Object({
    ...named,
    type: Type.Enum(['exact', 'contains', 'similarity'], { description: OF_TYPE }),
    value: Value,
  }),
  Type.Object({
    ...named,
    type: Type.Literal('regex', { description: OF_TYPE }),
    value: Type.String({ minLength: 1, maxLength: 1_000, description: 'The pattern.' }),
    flags: nullable(Type.String({ maxLength: 4 }), 'Of the pattern: i, m, s and u.'),
  }),
  Type.Object({
    ...named,
    type: Type.Literal('json_schema', { description: OF_TYPE }),
    schema: Type.Record(Type.String(), Type.Unknown(), { description: 'The JSON that is answered fits it.' }),
  }),
  Type.Object({
    ...named,
    type: Type.Literal('latency', { description: OF_TYPE }),
    max_ms: Type.Integer({ minimum: 1, maximum: 86_400_000, description: 'It takes no longer.' }),
  }),
  Type.Object({
    ...named,
    type: Type.Literal('cost', { description: OF_TYPE }),
    max_usd: Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000, description: 'It costs no more.' }),
  }),
  Type.Object({
    ...named,
    type: Type.Literal('webhook', { description: OF_TYPE }),
    url: Type.String({
      minLength: 1,
      maxLength: 2_048,
      description: `Is sent each answer of up to 1 MiB, and scores it. A run has ${WEBHOOKS_MAX} webhooks at most.`,
    }),
  }),
])

export const ScoreInputs = Type.Array(ScoreInput, { maxItems: SCORES_MAX })

/** A score with the name of its column. */
export type ScoreOrder = Static<typeof ScoreInput> & { readonly name: string }

/** Names all scores. Throws with the name of the field for those that can never be computed. */
export function toScoreOrders(inputs: Static<typeof ScoreInputs>, param: string): ScoreOrder[] {
  const names = new Set<string>()
  let webhooks = 0
  return inputs.map((input, index) => {
    const name = input.name ?? input.type
    if (names.has(name)) throw invalidValue(`${param}.${index}.name`, `Two scores are named '${name}'.`)
    names.add(name)
    webhooks += input.type === 'webhook' ? 1 : 0
    if (webhooks > WEBHOOKS_MAX)
      throw invalidValue(`${param}.${index}`, `A run has ${WEBHOOKS_MAX} webhooks at most.`)
    if (input.type === 'regex')
      checkExpected({ type: 'regex', value: input.value, flags: input.flags ?? '' }, `${param}.${index}`)
    if (input.type === 'json_schema' && JSON.stringify(input.schema).length > SCHEMA_LENGTH_MAX)
      throw invalidValue(
        `${param}.${index}.schema`,
        `A schema has ${SCHEMA_LENGTH_MAX} characters of JSON at most.`,
      )
    return { ...input, name }
  })
}
