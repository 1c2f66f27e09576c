import { expect } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { CHAT, chatBody, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { eventually } from '../support/eventually.ts'
import type { TestAnswer } from '../support/start-test-gateway.ts'

export interface BodiesGateway extends ChatGateway {
  readonly database: Database
  readonly accountId: string
  /** Sets the body storage of the account. */
  store(body: object): Promise<TestAnswer>
  /** Sends a chat request and returns the text of its answer. */
  ask(members?: object, key?: string): Promise<{ readonly text: string; readonly requestId: string }>
  readBody(requestId: string, key?: string): Promise<TestAnswer>
  /** Waits for the bodies, which are noted a moment after the client has read the answer. */
  readStored(requestId: string, key?: string): Promise<TestAnswer['body']>
  createKey(scopes: readonly string[]): Promise<{ readonly key: string; readonly id: string }>
}

/** Starts a gateway whose accounts may store bodies: 16 KiB of each, 1 MiB in all. */
export async function startBodiesGateway(): Promise<BodiesGateway> {
  const gateway = await startChatGateway({
    settings: {
      PARKWAY_BODY_STORAGE: 'accounts',
      PARKWAY_BODY_KIB_MAX: '16',
      PARKWAY_BODY_ACCOUNT_MIB_MAX: '1',
    },
  })
  const database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 2,
    statementTimeoutMs: 10_000,
  })
  const readBody = (requestId: string, key = gateway.key) =>
    gateway.request('GET', `/v1/requests/${requestId}/body`, { key })
  return {
    ...gateway,
    database,
    accountId: (await gateway.request('GET', '/v1/tenants/me')).body.id,
    store: async (body) => {
      const answer = await gateway.request('PATCH', '/v1/body-storage', { body })
      expect(answer.status).toBe(200)
      return answer
    },
    ask: async (members = {}, key = gateway.key) => {
      const response = await gateway.fetch('POST', CHAT, { body: chatBody(members), key })
      const text = await response.text()
      return { text, requestId: response.headers.get('x-request-id') ?? '' }
    },
    readBody,
    readStored: (requestId, key) =>
      eventually(async () => {
        const answer = await readBody(requestId, key)
        expect(answer.status).toBe(200)
        return answer.body
      }),
    createKey: async (scopes) => {
      const { body } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
        body: { name: 'k', scopes },
      })
      return { key: body.key, id: body.id }
    },
    close: async () => {
      await database.close()
      await gateway.close()
    },
  }
}
