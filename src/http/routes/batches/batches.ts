import { Type, type Static } from 'typebox'
import { invalidValue, notFound } from '../../../kernel/app-error.ts'
import type { BatchName, Batches } from '../../../modules/batches/batches.ts'
import { nullable } from '../../../wires/nullable.ts'
import { uuidOfBatch } from '../../../wires/openai-files/batch-id.ts'
import { uuidOfFile } from '../../../wires/openai-files/file-id.ts'
import { baseUrlOf } from '../../parameters/base-url-of.ts'
import { inProject } from '../../access.ts'
import { PAGE_LIMIT_DEFAULT } from '../../answers/list-page.ts'
import { defineRoute, type Route } from '../../route.ts'
import { listOf, organizationList, OrganizationListQuery } from '../organization/organization-list.ts'
import { BatchAnswer, batchToWire, Metadata } from './batch-wire.ts'

const BatchBody = Type.Object(
  {
    input_file_id: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'A file with the purpose `batch`: JSON, one request a line.',
    }),
    endpoint: Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        'What each line asks: `/v1/chat/completions`, `/v1/responses`, `/v1/messages`, `/v1/completions`, `/v1/embeddings`, `/v1/moderations`, `/v1/rerank`, `/v1/images/generations` or `/v1/images/edits`.',
    }),
    completion_window: Type.Literal('24h', { description: 'How long the batch may take.' }),
    metadata: nullable(Metadata, 'Comes back with the batch.'),
    output_expires_after: nullable(
      Type.Object({
        anchor: Type.Literal('created_at', { description: 'From when the time is counted.' }),
        seconds: Type.Integer({
          minimum: 3_600,
          maximum: 2_592_000,
          description: 'How long the files with answers and errors are kept.',
        }),
      }),
      'When the files with answers and errors are deleted. Without it they are kept until somebody deletes them.',
    ),
    run_as_far_as_credit_goes: nullable(
      Type.Boolean({
        description:
          'Run although the balance does not cover what the lines may cost. Those that it does not pay for end with an error.',
      }),
    ),
    webhook_url: nullable(
      Type.String({
        maxLength: 2_048,
        description:
          'Is called when the batch has ended, with `batch.completed`, `batch.failed`, `batch.expired` or `batch.cancelled`, signed as all webhooks are.',
      }),
    ),
  },
  {
    title: 'BatchRequest',
    examples: [
      {
        input_file_id: 'file-01a1f453a9a9711e9615a634c727deac',
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
        metadata: { purpose: 'nightly evaluation' },
      },
    ],
  },
)

const BatchParams = Type.Object({ id: Type.String({ maxLength: 256, description: 'The id of a batch.' }) })

const BatchListQuery = Type.Object({
  ...OrganizationListQuery.properties,
  file_id: Type.Optional(
    Type.String({ maxLength: 256, description: 'Only batches that read this file, or wrote it.' }),
  ),
})

const AT = '/v1/batches'
const shared = { tag: 'Batches', access: inProject('models.use') } as const

/** Many requests in one file, asked in the background. */
export const batchRoutes = ({ batches }: { batches: Batches }): Route[] => [
  defineRoute({
    ...shared,
    method: 'POST',
    path: AT,
    summary: 'Make a batch',
    takesTags: 'header',
    isChargedByCall: true,
    otherErrors: [404, 409, 429],
    body: BatchBody,
    responses: { 200: { description: 'The batch. Its lines are checked next.', schema: BatchAnswer } },
    handle: async ({ caller, body, headers }) => {
      const inputFileId = uuidOfFile(body.input_file_id)
      if (inputFileId === null)
        throw invalidValue('input_file_id', "'input_file_id' is not the id of a file.")
      const batch = await batches.create(caller, {
        wire: 'batches',
        inputFileId,
        endpoint: body.endpoint,
        metadata: body.metadata ?? null,
        outputSeconds: body.output_expires_after?.seconds ?? null,
        runsAsFar: body.run_as_far_as_credit_goes === true,
        webhookUrl: body.webhook_url ?? null,
        baseUrl: baseUrlOf(headers),
      })
      return batchToWire(batch)
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: AT,
    summary: 'List batches',
    query: BatchListQuery,
    responses: { 200: { description: 'Newest first.', schema: organizationList('BatchList', BatchAnswer) } },
    handle: async ({ caller, query: { limit = PAGE_LIMIT_DEFAULT, after, file_id: fileName } }) => {
      const afterId = after === undefined ? null : uuidOfBatch(after)
      if (after !== undefined && afterId === null)
        throw invalidValue('after', 'after must be the id of a batch.')
      const fileId = fileName === undefined ? undefined : uuidOfFile(fileName)
      if (fileId === null) throw invalidValue('file_id', 'file_id must be the id of a file.')
      return listOf(await batches.list(caller, { wire: 'batches', fileId }, { limit, afterId }), batchToWire)
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${AT}/:id`,
    summary: 'Read a batch',
    params: BatchParams,
    responses: { 200: { description: 'The batch as it is now.', schema: BatchAnswer } },
    handle: async ({ caller, params }) => batchToWire(await batches.read(caller, nameOf(params))),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: `${AT}/:id/cancel`,
    summary: 'Cancel a batch',
    otherErrors: [409],
    params: BatchParams,
    responses: {
      200: { description: 'The batch. What runs may end; no further line is asked.', schema: BatchAnswer },
    },
    handle: async ({ caller, params }) => batchToWire(await batches.cancel(caller, nameOf(params))),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: `${AT}/:id/retry`,
    summary: 'Ask the lines without an answer again',
    takesTags: 'header',
    isChargedByCall: true,
    otherErrors: [409, 429],
    params: BatchParams,
    responses: { 200: { description: 'The new batch, of those lines.', schema: BatchAnswer } },
    handle: async ({ caller, params }) => batchToWire(await batches.retry(caller, nameOf(params))),
  }),
]

function nameOf({ id }: Static<typeof BatchParams>): BatchName {
  const uuid = uuidOfBatch(id)
  if (uuid === null) throw notFound('batch')
  return { id: uuid, wire: 'batches' }
}
