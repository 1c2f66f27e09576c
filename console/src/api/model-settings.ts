import { queryOptions } from '@tanstack/react-query'
import type { paths } from '../../../api-types/generated/gateway-api.ts'
import { call, client, type BodyOf, type Schemas } from './client.ts'

export type ConfiguredModel = Schemas['ModelConfiguration']
export type ModelPriceList = Schemas['ModelPrice']
export type PriceImport = Schemas['PriceImport']
export type PriceDifference = PriceImport['differences'][number]
export type ModelBody = BodyOf<paths['/v1/admin/models']['post']>
export type ModelChange = BodyOf<paths['/v1/admin/models/{id}']['patch']>
export type PriceBody = BodyOf<paths['/v1/admin/models/{id}/prices']['post']>
export type PriceSource = BodyOf<paths['/v1/admin/price_imports']['post']>
export type PriceSelection = BodyOf<paths['/v1/admin/price_imports/apply']['post']>

/** The gateway may have more, but nobody reads them in a list. */
const PAGES_MAX = 50

/** Every model as it is configured. */
export const modelSettingsQuery = queryOptions({
  queryKey: ['model-settings'],
  queryFn: async ({ signal }) => {
    const models: ConfiguredModel[] = []
    let after: string | undefined
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const query = { limit: 100, ...(after === undefined ? {} : { after }) }
      const answer = await call(() => client.GET('/v1/admin/models', { params: { query }, signal }))
      models.push(...answer.data)
      if (answer.next_cursor === null) break
      after = answer.next_cursor
    }
    return models
  },
})

export const modelPricesQuery = (id: string) =>
  queryOptions({
    queryKey: ['model-settings', id, 'prices'],
    queryFn: ({ signal }) =>
      call(() => client.GET('/v1/admin/models/{id}/prices', { params: { path: { id } }, signal })),
  })

export const addModel = (body: ModelBody) => call(() => client.POST('/v1/admin/models', { body }))

export const changeModel = (id: string, body: ModelChange) =>
  call(() => client.PATCH('/v1/admin/models/{id}', { params: { path: { id } }, body }))

export const removeModel = (id: string) =>
  call(() => client.DELETE('/v1/admin/models/{id}', { params: { path: { id } } }))

export const setModelPrice = (id: string, body: PriceBody) =>
  call(() => client.POST('/v1/admin/models/{id}/prices', { params: { path: { id } }, body }))

export const withdrawModelPrice = (id: string, version: string) =>
  call(() => client.DELETE('/v1/admin/models/{id}/prices/{version}', { params: { path: { id, version } } }))

/** Says how a public price list differs. Nothing is changed. */
export const comparePrices = (body: PriceSource) =>
  call(() => client.POST('/v1/admin/price_imports', { body }))

export const takePrices = (body: PriceSelection) =>
  call(() => client.POST('/v1/admin/price_imports/apply', { body }))
