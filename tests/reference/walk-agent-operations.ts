import type { MakeCall } from './walk-call.ts'

/** What agents such as Claude Code call, and what is set for them. */
export async function walkAgents(call: MakeCall): Promise<void> {
  const made = await call('POST /v1/organization/managed_settings')
  await call('GET /v1/organization/managed_settings')
  await call('GET /managed/settings')
  await call('DELETE /v1/organization/managed_settings/{managed_settings_id}', {
    params: { managed_settings_id: String(made.id) },
  })
  for (const signal of ['metrics', 'logs', 'traces']) await call(`POST /v1/${signal}`, { body: {} })
}
