import { expect } from 'vitest'
import type { OpenDatabase } from '../payments/open-test-database.ts'
import { eventually } from '../support/eventually.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'
import type { SmtpServer } from '../upstreams/smtp-server.ts'

interface Served {
  readonly gateway: Pick<TestGateway, 'request'>
  readonly database: Pick<OpenDatabase, 'query'>
  readonly smtp: Pick<SmtpServer, 'received'>
}

/** A mail is sent again once an hour, at most 10 times, and only to an address that is still in the settings. */
export async function expectMailBounds(
  { gateway, database, smtp }: Served,
  { accountId, key, email }: { accountId: string; key: string; email: string },
): Promise<void> {
  const find = async () => {
    const { body } = await gateway.request('GET', '/v1/webhook-deliveries', { key })
    return body.data.find(({ url }: { url: string }) => url === `mailto:${email}`)
  }
  const { id } = await eventually(async () => {
    const found = await find()
    expect(found.status).toBe('delivered')
    return found
  })
  const again = async () => {
    const { status, headers, body } = await gateway.request(
      'POST',
      `/v1/webhook-deliveries/${id}/redeliver`,
      {
        key,
      },
    )
    return [status, headers.get('retry-after'), body.error?.message]
  }
  const setAttempts = (count: number, minutes: number) =>
    database.query(
      `UPDATE webhook_deliveries SET attempts = (
         SELECT jsonb_agg(jsonb_build_object('at', now() - interval '${minutes} minutes', 'status', 250, 'error', null, 'duration_ms', 1))
         FROM generate_series(1, ${count})) WHERE id = '${id}'`,
    )
  const bound = 'A mail is sent again once an hour, and at most 10 times.'
  await setAttempts(9, 59)
  expect(await again()).toEqual([429, '3600', `${bound} Try again in an hour.`])
  await setAttempts(10, 61)
  expect(await again()).toEqual([409, null, `${bound} This one was sent 10 times.`])
  await setAttempts(9, 61)
  const setEmails = (emails: string[]) =>
    gateway.request('PATCH', '/v1/budget-alerts/settings', { key, body: { statement_emails: emails } })
  await setEmails([`other-${accountId}@example.com`])
  expect(await again()).toEqual([409, null, 'The address of the mail is not in the settings any more.'])
  await setEmails([email])
  expect((await again())[0]).toBe(200)
  await eventually(() => expect(smtp.received.filter(({ to }) => to.includes(email))).toHaveLength(2))
}
