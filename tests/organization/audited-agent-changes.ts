import type { Prepare } from './audited-changes.ts'

const SETTINGS = '/v1/organization/managed_settings'

/** The routes about agents that change something, like `AUDITED_CHANGES`. */
export const AUDITED_AGENT_CHANGES: Readonly<Record<string, Prepare>> = {
  [`POST ${SETTINGS}`]: async () => ({
    type: 'managed_settings.updated',
    body: { settings: { model: 'claude-sonnet-5' } },
  }),
  [`DELETE ${SETTINGS}/{managed_settings_id}`]: async (gateway) => {
    const { body } = await gateway.request('POST', SETTINGS, { body: { settings: {} } })
    return { type: 'managed_settings.deleted', params: { managed_settings_id: String(body.id) } }
  },
}
