import { expect } from 'vitest'
import { createAccount, type TestAccount } from '../payments/accounts.ts'
import type { TestAnswer, TestGateway } from '../support/start-test-gateway.ts'

export const BUDGETS = '/v1/organization/budgets'

export interface BudgetCalls {
  /** An account of its own, so that the budgets of one test do not limit another. */
  createPayer(): Promise<TestAccount>
  call(method: string, path: string, key: string, body?: unknown): Promise<TestAnswer>
  setBudget(key: string, order: object): Promise<Record<string, unknown> & { id: string }>
  chat(
    key: string,
    options?: { readonly at?: TestGateway; readonly headers?: Record<string, string> },
  ): Promise<TestAnswer>
}

export function createBudgetCalls(gateway: TestGateway): BudgetCalls {
  const call: BudgetCalls['call'] = (method, path, key, body) =>
    gateway.request(method, path, { key, ...(body === undefined ? {} : { body }) })
  return {
    createPayer: () => createAccount(gateway, { creditUsd: 100 }),
    call,
    setBudget: async (key, order) => {
      const { status, body } = await call('POST', BUDGETS, key, { window: 'month', ...order })
      expect([status, body]).toEqual([200, body])
      return body
    },
    chat: (key, { at = gateway, headers = {} } = {}) =>
      at.request('POST', '/v1/chat/completions', {
        key,
        headers,
        body: {
          model: 'gpt-5.4',
          messages: [{ role: 'user', content: 'Write a long story.' }],
          max_tokens: 50,
        },
      }),
  }
}

export const codeOf = ({ status, body }: TestAnswer): unknown[] => [status, body.error?.code ?? null]

export const inADay = (): string => new Date(Date.now() + 86_400_000).toISOString()
