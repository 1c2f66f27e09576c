import { Type, type Static } from 'typebox'
import {
  PREFETCH_STATUSES,
  type Prefetch,
  type Prefetches,
} from '../../../modules/deployments/deployments.ts'
import { nullable, orNull } from '../../../wires/nullable.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const PrefetchRequest = Type.Object(
  {
    huggingface_id: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'The id of a model on the hub.',
    }),
    quantization: nullable(
      Type.String({
        maxLength: 100,
        description:
          'The quantization to download from a GGUF repository. The default is `Q4_K_M` or the nearest one.',
      }),
    ),
    revision: nullable(
      Type.String({
        maxLength: 100,
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
        description: 'A branch, tag or commit.',
      }),
    ),
    hf_token: nullable(
      Type.String({
        maxLength: 200,
        description: 'Token for gated models. Stored encrypted during the download.',
      }),
    ),
  },
  { title: 'PrefetchRequest', examples: [{ huggingface_id: 'Qwen/Qwen3-8B' }] },
)

const PrefetchAnswer = Type.Object(
  {
    huggingface_id: Type.String({ description: 'The id of the model on the hub.' }),
    status: Type.Enum([...PREFETCH_STATUSES], {
      description:
        '`not_found`: this account has ordered no download of it, or it was deleted from the cache since.',
    }),
    progress: Type.Integer({ description: 'From 0 to 100.' }),
    size_bytes: orNull(Type.Integer({ description: 'Size of all files together. `null` if unknown.' })),
    downloaded_bytes: Type.Integer({ description: 'Number of downloaded bytes.' }),
    revision: orNull(Type.String({ description: 'The commit that is downloaded.' })),
    error_message: orNull(Type.String({ description: 'Why the download failed. `null` if it did not.' })),
  },
  { title: 'Prefetch' },
)

const Whole = Type.Object({
  hub_id: Type.String({ description: 'The id of a model on the hub, such as `Qwen/Qwen3-8B`.' }),
})
const Parted = Type.Object({
  owner: Type.String({ description: 'The first part of the model id on the hub.' }),
  name: Type.String({ description: 'The second part of the model id on the hub.' }),
})
const at = '/v1/deployments/prefetch'

/** Routes for downloads before deployment. A model id contains a slash, which clients may or may not encode. */
export const prefetchRoutes = ({ prefetches }: { prefetches: Prefetches }): Route[] => {
  const shared = { tag: 'Deployments' } as const
  const read = {
    ...shared,
    method: 'GET',
    summary: 'Read the progress of a download',
    responses: {
      200: {
        description: 'The download. Its status is `not_found` if there is none.',
        schema: PrefetchAnswer,
      },
    },
  } as const
  const cancel = {
    ...shared,
    method: 'POST',
    summary: 'Cancel the download of a model',
    responses: {
      200: { description: 'The download. A finished download does not change.', schema: PrefetchAnswer },
    },
  } as const

  return [
    defineRoute({
      ...shared,
      method: 'POST',
      path: at,
      access: inProject('deployments.manage'),
      summary: 'Download a model before it is deployed',
      body: PrefetchRequest,
      otherErrors: [402, 429, 503],
      responses: { 201: { description: 'The download, which has started.', schema: PrefetchAnswer } },
      handle: async ({ caller, body, reply }) => {
        const prefetch = await prefetches.order(caller, {
          huggingfaceId: body.huggingface_id,
          quantization: body.quantization ?? 'auto',
          revision: body.revision ?? null,
          maxModelLen: null,
          token: body.hf_token ?? null,
        })
        reply.code(201)
        return toAnswer(prefetch)
      },
    }),
    defineRoute({
      ...read,
      path: `${at}/:hub_id`,
      access: inProject('deployments.read'),
      params: Whole,
      handle: async ({ caller, params }) => toAnswer(await prefetches.read(caller.accountId, params.hub_id)),
    }),
    defineRoute({
      ...read,
      path: `${at}/:owner/:name`,
      access: inProject('deployments.read'),
      aliasOf: `${at}/:hub_id`,
      params: Parted,
      handle: async ({ caller, params: { owner, name } }) =>
        toAnswer(await prefetches.read(caller.accountId, `${owner}/${name}`)),
    }),
    defineRoute({
      ...cancel,
      path: `${at}/:hub_id/cancel`,
      access: inProject('deployments.manage'),
      params: Whole,
      handle: async ({ caller, params }) => toAnswer(await prefetches.cancel(caller, params.hub_id)),
    }),
    defineRoute({
      ...cancel,
      path: `${at}/:owner/:name/cancel`,
      access: inProject('deployments.manage'),
      aliasOf: `${at}/:hub_id/cancel`,
      params: Parted,
      handle: async ({ caller, params: { owner, name } }) =>
        toAnswer(await prefetches.cancel(caller, `${owner}/${name}`)),
    }),
  ]
}

function toAnswer(prefetch: Prefetch): Static<typeof PrefetchAnswer> {
  const { huggingfaceId, status, commit, doneBytes, sizeBytes, errorMessage } = prefetch
  return {
    huggingface_id: huggingfaceId,
    status,
    progress: sizeBytes === null ? 0 : sizeBytes === 0 ? 100 : Math.floor((doneBytes / sizeBytes) * 100),
    size_bytes: sizeBytes,
    downloaded_bytes: doneBytes,
    revision: commit,
    error_message: errorMessage,
  }
}
