import type { TestAnswer } from '../support/start-test-gateway.ts'

type Ask = (method: string, path: string, body?: object) => Promise<TestAnswer>

/** Continues the session of these requests in a project. Null goes back. */
export const enter = (ask: Ask, projectId: string | null): Promise<TestAnswer> =>
  ask('POST', '/v1/sessions/project', { project_id: projectId })

export const chat = (model: string, tokens = 5): object => ({
  model,
  messages: [{ role: 'user', content: 'Hi' }],
  max_tokens: tokens,
})
