import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabase, type OpenDatabase } from '../payments/open-test-database.ts'
import { invite } from '../passkeys/passkey-person.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'
import { openNamedConsole } from './virtual-authenticator.ts'

describe.skipIf(NO_BROWSER !== null)('a person with passkeys in the console', () => {
  let gateway: TestGateway
  let database: OpenDatabase
  beforeAll(async () => {
    gateway = await startTestGateway()
    database = openTestDatabase(gateway)
  })
  afterAll(async () => {
    await database.close()
    await gateway.close()
  })

  /** Accepts an invitation with a passkey, and is on the first page. */
  async function join(role = 'owner') {
    const { code, email } = await invite(gateway, { role })
    const opened = await openNamedConsole(gateway)
    await opened.goto(`/accept-invite#code=${code}`)
    await opened.page.getByLabel('Your name').fill('Grace Hopper')
    await opened.page.getByRole('button', { name: 'Make a passkey and continue' }).click()
    await opened.page.getByRole('heading', { name: 'Home' }).waitFor()
    return { ...opened, email }
  }

  test('comes in by an invitation, signs out, and in again with the passkey', async () => {
    const { code, email } = await invite(gateway)
    const { page, goto, device, close } = await openNamedConsole(gateway)
    await goto(`/accept-invite#code=${code}`)
    await page.getByRole('heading', { name: 'Join First account' }).waitFor()
    await page.getByText(email).waitFor()
    expect(page.url()).not.toContain(code)
    await expectAccessible(page)
    await takeScreenshots(page, 'accept-invite')
    await page.getByLabel('Your name').fill('Grace Hopper')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    expect(await device.count()).toBe(1)
    await page.getByRole('button', { name: /First account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Continue with a passkey' }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'sign-in-with-passkey')
    await page.getByRole('button', { name: 'Continue with a passkey' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await close()
  })

  test('is told when the link was used, and sees nothing of the account', async () => {
    const { code } = await invite(gateway)
    await gateway.request('POST', '/v1/invites/accept', { key: null, body: { code, name: 'Somebody' } })
    const { page, goto, close } = await openNamedConsole(gateway)
    await goto(`/accept-invite#code=${code}`)
    await page.getByRole('alert').getByText('This link has been used').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'accept-invite-used')
    await close()
  })

  test('may come in without a passkey', async () => {
    const { code } = await invite(gateway)
    const { page, goto, device, close } = await openNamedConsole(gateway)
    await goto(`/accept-invite#code=${code}`)
    await page.getByRole('button', { name: 'Continue without a passkey' }).click()
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    expect(await device.count()).toBe(0)
    await close()
  })

  test('is refused by a device that does not check who uses it', async () => {
    const { page, goto, device, close } = await join('reader')
    await goto('/profile')
    await page.getByRole('listitem').filter({ hasText: 'Linux' }).first().waitFor()
    await page.getByRole('button', { name: /First account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await device.setVerified(false)
    await page.getByRole('button', { name: 'Continue with a passkey' }).click()
    await page.getByRole('alert').waitFor()
    expect(new URL(page.url()).pathname).toBe('/sign-in')
    await device.setVerified(true)
    await page.getByRole('button', { name: 'Continue with a passkey' }).click()
    await page.getByRole('heading', { name: /Home|profile/ }).waitFor()
    await close()
  })

  test('sees passkeys and sessions on the profile, names one, and adds one of a second device', async () => {
    const { page, goto, context, device, close } = await join()
    await page.getByRole('button', { name: /First account/ }).click()
    await page.getByRole('menuitem', { name: 'Your profile' }).click()
    await page.getByRole('heading', { name: 'Your profile' }).waitFor()
    await page.getByText('this one', { exact: true }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'profile')
    await page.getByRole('button', { name: /^Rename / }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Old laptop')
    await page.keyboard.press('Enter')
    await page.getByText('Old laptop').waitFor()

    // A second device: the first one does not make another passkey for the same account.
    const { authenticatorId } = await device.session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'usb',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByRole('dialog', { name: 'Name the passkey' }).waitFor()
    await page.getByRole('textbox', { name: 'Name' }).fill('Security key')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Security key').first().waitFor()
    const { credentials } = await device.session.send('WebAuthn.getCredentials', { authenticatorId })
    expect(credentials).toHaveLength(1)

    await page.getByRole('button', { name: 'Remove Old laptop' }).click()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByRole('button', { name: 'Remove Old laptop' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Remove Security key' }).click()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByRole('dialog', { name: 'Remove your last way in?' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await context.cookies()).not.toEqual([])
    await goto('/profile')
    await page.getByText('Security key').waitFor()
    await close()
  })

  test('proves with the passkey that it is them, before rights change', async () => {
    const { page, goto, email, close } = await join()
    const colleague = await invite(gateway)
    await gateway.request('POST', '/v1/invites/accept', {
      key: null,
      body: { code: colleague.code, name: 'Alan' },
    })
    await database.query(`UPDATE sessions SET confirmed_at = now() - interval '15 minutes'`)
    await goto('/organization?tab=members')
    await page.getByText(colleague.email).click()
    await page.getByRole('button', { name: 'Make a recovery link' }).click()
    await takeScreenshots(page, 'recovery-link')
    await page.getByRole('button', { name: 'Make the link' }).click()
    const dialog = page.getByRole('dialog', { name: 'Prove that it is you' })
    await dialog.getByRole('button', { name: 'Use your passkey' }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'confirm-passkey')
    await page.keyboard.press('Enter')
    await page.getByText('/accept-invite#code=').waitFor()
    await expectAccessible(page)
    expect(email).toContain('@')
    await close()
  })

  test('who lost every device comes back with a link from a manager, which ends the old passkey', async () => {
    const lost = await join('reader')
    const { body: found } = await gateway.request('GET', `/v1/organization/users?emails[]=${lost.email}`)
    const { body: link } = await gateway.request(
      'POST',
      `/v1/organization/users/${found.data[0].id}/recovery_link`,
      { body: { end_passkeys: true } },
    )
    const fresh = await openNamedConsole(gateway)
    await fresh.goto(new URL(link.url).pathname + new URL(link.url).hash)
    await fresh.page.getByRole('heading', { name: 'Back into First account' }).waitFor()
    await takeScreenshots(fresh.page, 'recovery')
    await fresh.page.getByRole('button', { name: 'Make a passkey and continue' }).click()
    await fresh.page.getByRole('heading', { name: 'Home' }).waitFor()
    await lost.goto('/sign-in')
    await lost.page.getByRole('button', { name: 'Continue with a passkey' }).click()
    await lost.page.getByRole('alert').waitFor()
    await lost.close()
    await fresh.close()
  })

  test('signs out everywhere else', async () => {
    const first = await join('reader')
    const second = await openNamedConsole(gateway)
    await first.device.copyTo(second.device)
    await second.goto('/sign-in')
    await second.page.getByRole('button', { name: 'Continue with a passkey' }).click()
    await second.page.getByRole('heading', { name: 'Home' }).waitFor()
    await first.goto('/profile')
    await first.page.getByText('with a passkey').waitFor()
    await first.page.getByRole('button', { name: 'Sign out everywhere else' }).click()
    await first.page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere else' }).click()
    await first.page.getByText('1 session ended.').waitFor()
    await second.goto('/profile')
    await second.page.getByRole('button', { name: 'Continue with a passkey' }).waitFor()
    await first.close()
    await second.close()
  })
})
