import { expect } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startWalkedHub } from '../upstreams/walked-hub.ts'
import { startTestGateway, type TestAnswer } from '../support/start-test-gateway.ts'
import { walkAccount, walkOperator } from './walk-account-operations.ts'
import type { Call, MakeCall } from './walk-call.ts'
import { walkPasskeys } from './walk-passkey-operations.ts'
import { walkAgents } from './walk-agent-operations.ts'
import { walkScim } from './walk-scim-operations.ts'
import { walkGrants } from './walk-grant-operations.ts'
import { walkOrganization } from './walk-organization-operations.ts'

export interface WalkedAnswer {
  /** For example `GET /v1/models/{id}`. */
  readonly operation: string
  readonly status: number
  readonly contentType: string
  readonly body: unknown
}

export interface Walk {
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into the document and fail loudly on a wrong shape
  readonly document: any
  readonly answers: readonly WalkedAnswer[]
}

const URL_ENCODED = 'application/x-www-form-urlencoded'
const ENDED = /^(completed|failed|cancelled)$/

/** Calls every operation of the API, with the request bodies that the document has as examples. */
export async function walkOperations(): Promise<Walk> {
  const hub = await startWalkedHub()
  const gateway = await startTestGateway({
    settings: {
      PARKWAY_SANDBOX_GPU_START_MS: '100',
      PARKWAY_BODY_STORAGE: 'accounts',
      PARKWAY_STATUS_PAGE: 'true',
      HF_ENDPOINT: hub.url,
      PARKWAY_OUTBOUND_ALLOW: hub.cdnHost,
    },
  })
  const answers: WalkedAnswer[] = []
  try {
    const { body: document } = await gateway.request('GET', '/openapi.json', { key: null })

    let cookie = ''
    const call = async (operation: string, given: Call = {}): Promise<TestAnswer['body']> => {
      const [method = '', template = ''] = operation.split(' ')
      const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => given.params?.[name] ?? name)
      const content = document.paths[template][method.toLowerCase()].requestBody?.content ?? {}
      const form = content[URL_ENCODED]
      const example = (form ?? content['application/json'])?.example
      const asked = given.body === undefined ? example : given.body
      const body = form === undefined ? asked : new URLSearchParams(asked).toString()
      const answer = await gateway.request(method, path + (given.query ?? ''), {
        ...(body === undefined || body === null ? {} : { body }),
        ...(given.key === undefined ? {} : { key: given.key }),
        headers: { ...(form !== undefined && { 'content-type': URL_ENCODED }), ...given.headers },
      })
      expect([operation, answer.status < 300, answer.body]).toEqual([operation, true, answer.body])
      const contentType = answer.headers.get('content-type')?.split(';', 1)[0] ?? ''
      answers.push({ operation, status: answer.status, contentType, body: answer.body })
      cookie = answer.headers.get('set-cookie')?.split(';', 1)[0] ?? cookie
      return answer.body
    }
    const until = async (read: () => Promise<{ status: string }>, ended = ENDED): Promise<void> => {
      await eventually(async () => expect((await read()).status).toMatch(ended))
    }

    await walkModels(call)
    await walkTasks(call, until)
    await walkCompare(call, until)
    await walkConversations(call)
    await walkDeployments(call, until)
    await walkAccount(call)
    await walkSessions(call, { key: gateway.key, cookie: () => cookie })
    await walkPasskeys(call, () => cookie)
    await walkOrganization(call)
    await walkAgents(call)
    await walkScim(call)
    await walkGrants(call, () => cookie)
    await walkOperator(call)
    return { document, answers }
  } finally {
    await gateway.close()
    await hub.close()
  }
}

type Until = (read: () => Promise<{ status: string }>) => Promise<void>

async function walkSessions(
  call: MakeCall,
  { key, cookie }: { key: string; cookie: () => string },
): Promise<void> {
  const body = { api_key: key }
  await call('GET /v1/sessions/methods', { key: null })
  const { id } = await call('POST /v1/sessions', { key: null, body })
  await call('GET /v1/sessions')
  const headers = { cookie: cookie(), 'sec-fetch-site': 'same-origin' }
  await call('POST /v1/sessions/current/confirm', { key: null, headers, body })
  await call('GET /v1/sessions/current', { key: null, headers })
  await call('POST /v1/sessions/project', { key: null, headers })
  await call('DELETE /v1/sessions/{id}', { params: { id } })
  await call('DELETE /v1/sessions')
}

async function walkModels(call: MakeCall): Promise<void> {
  const { data } = await call('GET /v1/models')
  await call('GET /v1/models/{id}', { params: { id: data[0].id } })
  await call('POST /v1/chat/completions')
  await call('POST /v1/completions')
  const response = await call('POST /v1/responses')
  await call('POST /v1/responses/input_tokens')
  await call('POST /v1/responses/compact')
  const conversation = await call('POST /v1/conversations')
  const ofConversation = { params: { id: conversation.id } }
  await call('GET /v1/conversations/{id}', ofConversation)
  await call('POST /v1/conversations/{id}', ofConversation)
  const items = await call('POST /v1/conversations/{id}/items', ofConversation)
  const ofItem = { params: { id: conversation.id, item_id: items.data[0].id } }
  await call('GET /v1/conversations/{id}/items', ofConversation)
  await call('GET /v1/conversations/{id}/items/{item_id}', ofItem)
  await call('DELETE /v1/conversations/{id}/items/{item_id}', ofItem)
  await call('DELETE /v1/conversations/{id}', ofConversation)
  await call('GET /v1/responses/{id}', { params: { id: response.id } })
  await call('GET /v1/responses/{id}/input_items', { params: { id: response.id } })
  const queued = await call('POST /v1/responses', {
    body: { model: 'gpt-5.4-mini', input: 'Hello!', background: true },
  })
  await call('POST /v1/responses/{id}/cancel', { params: { id: queued.id } })
  await call('DELETE /v1/responses/{id}', { params: { id: response.id } })
  await call('POST /v1/messages')
  await call('POST /v1/messages/count_tokens')
  await call('GET /anthropic/v1/models')
  await call('GET /anthropic/v1/models/{id}', { params: { id: 'gpt-5.4-mini' } })
  await call('POST /v1/embeddings')
  await call('POST /v1/rerank')
  await call('POST /v1/moderations')
  await call('POST /v1/images/generations', { query: '' })
  await call('POST /v1/images/edits')
  await call('POST /v1/images/upscale')
  await call('POST /v1/images/bg-remove')
  await call('POST /v1/audio/transcriptions')
  await call('POST /v1/audio/translations')
  await call('GET /v1/audio/voices')
  await call('GET /v1/queue/status')
}

async function walkTasks(call: MakeCall, until: Until): Promise<void> {
  const video = await call('POST /v1/videos/generations')
  await call('POST /v1/tasks/{id}/cancel', { params: { id: video.task_id }, body: null })
  await call('POST /v1/tasks/{id}/retry', { params: { id: video.task_id }, body: null })
  const music = await call('POST /v1/audio/music')
  const params = { id: music.task_id }
  await until(() => call('GET /v1/tasks/{id}', { params }))
  await call('GET /v1/tasks/{id}', { params })
  await call('GET /v1/tasks')
  await call('GET /v1/tasks/{id}/webhook-deliveries', { params })
  await call('GET /v1/webhook-deliveries')
  await call('GET /v1/tenants/me/webhook-secret')
  await call('POST /v1/tenants/me/webhook-secret/rotate', { body: null })
}

async function walkCompare(call: MakeCall, until: Until): Promise<void> {
  const { data: chatModels } = await call('GET /v1/models', { query: '?category=llm' })
  const models = [chatModels[0].id, chatModels[1].id]
  const { id } = await call('POST /v1/compare/datasets')
  await call('PATCH /v1/compare/datasets/{id}', { params: { id } })
  await call('GET /v1/compare/datasets')
  await call('GET /v1/compare/datasets/{id}', { params: { id } })
  await call('POST /v1/compare/estimates', { body: { models, dataset_id: id } })
  const ask = async (): Promise<string> => {
    const run = await call('POST /v1/compare/runs', {
      body: { name: 'Two models', models, dataset_id: id },
    })
    await until(() => call('GET /v1/compare/runs/{run_id}', { params: { run_id: run.id } }))
    return run.id
  }
  const [earlier, later] = [await ask(), await ask()]
  const params = { run_id: later }
  const run = await call('GET /v1/compare/runs/{run_id}', { params })
  await call('GET /v1/compare/runs')
  await call('GET /v1/compare/runs/{run_id}/results', { params })
  await call('GET /v1/compare/runs/{run_id}/export', { params })
  await call('POST /v1/compare/runs/{run_id}/lanes/{lane_id}/winner', {
    params: { ...params, lane_id: run.lanes[0].id },
  })
  await call('GET /v1/compare/runs/{run_id}/votes', { params })
  await call('GET /v1/compare/runs/{run_id}/verdict', { params })
  await call('GET /v1/compare/runs/{run_id}/diff', { params, query: `?against=${earlier}` })
  await call('GET /v1/compare/leaderboard')
  await call('POST /v1/compare/runs/{run_id}/save', { params, body: null })
  const { id: cancelled } = await call('POST /v1/compare/runs', {
    body: { models, dataset_id: id, repeats: 10 },
  })
  await call('POST /v1/compare/runs/{run_id}/cancel', { params: { run_id: cancelled }, body: null })
  await call('POST /v1/compare/runs/{run_id}/resume', { params: { run_id: cancelled } })
  await call('DELETE /v1/compare/datasets/{id}', { params: { id } })
}

async function walkDeployments(
  call: MakeCall,
  until: (read: () => Promise<{ status: string }>, ended: RegExp) => Promise<void>,
): Promise<void> {
  await call('GET /v1/gpu-tiers')
  await call('GET /v1/gpu-tiers/live')
  await call('GET /v1/deployment-templates')
  await call('POST /v1/hf/validate')
  await call('GET /v1/deployments/preview', { query: '?huggingface_id=Qwen/Qwen3-8B&gpu_tier=l40s_48gb' })
  const ahead = await call('POST /v1/deployments/prefetch')
  const hubId = { hub_id: encodeURIComponent(ahead.huggingface_id) }
  await until(() => call('GET /v1/deployments/prefetch/{hub_id}', { params: hubId }), /^complete$/)
  await call('POST /v1/deployments/prefetch/{hub_id}/cancel', { params: hubId, body: null })
  const { id } = await call('POST /v1/deployments')
  const params = { id }
  await until(() => call('GET /v1/deployments/{id}', { params }), /^running$/)
  await call('GET /v1/deployments')
  await call('POST /v1/deployments/{id}/chat', { params })
  await call('GET /v1/deployments/{id}/events', { params })
  await call('GET /v1/deployments/{id}/billing', { params })
  await call('GET /v1/deployments/{id}/logs', { params })
  await call('GET /v1/deployments/{id}/metrics', { params, query: '?window=5m&step=150' })
  await call('POST /v1/deployments/{id}/stop', { params, body: null })
  await call('POST /v1/deployments/{id}/start', { params, body: null })
  await call('DELETE /v1/deployments/{id}', { params })
}

async function walkConversations(call: MakeCall): Promise<void> {
  const { id } = await call('POST /v1/compare/conversations')
  const params = { id }
  await call('POST /v1/compare/conversations/{id}/turns', { params })
  await call('PATCH /v1/compare/conversations/{id}', { params })
  await call('GET /v1/compare/conversations')
  await call('GET /v1/compare/conversations/{id}', { params })
  await call('DELETE /v1/compare/conversations/{id}', { params })
}
