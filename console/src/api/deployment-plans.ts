import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'

export type GpuTier = Schemas['GpuTier']
export type DeploymentTemplate = Schemas['DeploymentTemplate']
export type HubValidation = Schemas['HubValidation']

export const gpuTiersQuery = queryOptions({
  queryKey: ['gpu-tiers'],
  queryFn: async ({ signal }) => (await call(() => client.GET('/v1/gpu-tiers', { signal }))).data,
  staleTime: 30_000,
})

export const templatesQuery = queryOptions({
  queryKey: ['deployment-templates'],
  queryFn: async ({ signal }) => (await call(() => client.GET('/v1/deployment-templates', { signal }))).data,
  staleTime: 3_600_000,
})

/** What a model of the hub is. The token is used for this look only. */
export const hubModelQuery = (hubId: string, token: string) =>
  queryOptions({
    queryKey: ['hub-model', hubId, token],
    queryFn: ({ signal }) =>
      call(() =>
        client.POST('/v1/hf/validate', {
          body: { huggingface_id: hubId, ...(token !== '' && { hf_token: token }) },
          signal,
        }),
      ),
    staleTime: 60_000,
  })

export interface PreviewQuestion {
  readonly huggingface_id: string
  /** Undefined: the gateway chooses the cheapest one that the model fits on. */
  readonly gpu_tier: string | undefined
  readonly quantization: string
  readonly max_model_len: number | undefined
}

/** How a model would fit on a tier. */
export const previewQuery = (question: PreviewQuestion) =>
  queryOptions({
    queryKey: ['deployment-preview', question],
    queryFn: ({ signal }) =>
      call(() => client.GET('/v1/deployments/preview', { params: { query: question }, signal })),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })

export const createDeployment = (body: Schemas['DeploymentRequest']) =>
  call(() => client.POST('/v1/deployments', { body }))
