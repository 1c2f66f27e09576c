import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AUDIENCE, job, startExchangeStage, type ExchangeStage } from '../agents/exchange-stage.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

let stage: ExchangeStage

describe.skipIf(NO_BROWSER !== null)('trusted issuers', () => {
  beforeAll(async () => {
    stage = await startExchangeStage()
  })
  beforeEach(() => stage.forgetIssuers())
  afterAll(() => stage.close())

  test('trusted issuers are added from a template, tell what was exchanged, are changed with an error that names the rule, and end', async () => {
    const { page, goto, close } = await openConsole(stage.gateway)
    const openTab = async (): Promise<void> => {
      await goto(`/organization/projects/${stage.projectId}`)
      await page.getByRole('tab', { name: 'Trusted issuers' }).click()
    }
    await openTab()
    await page.getByText('No issuer is trusted yet').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'issuers-empty')
    await page.getByRole('button', { name: 'Trust an issuer' }).click()
    const sheet = page.getByRole('dialog')
    await sheet.getByLabel('Kind').selectOption('GitHub Actions')
    expect(await sheet.getByLabel('Issuer').inputValue()).toBe('https://token.actions.githubusercontent.com')
    await sheet.getByLabel('Issuer').fill(stage.actions.url)
    await sheet.getByLabel('Audience').fill(AUDIENCE)
    await sheet.getByLabel('Value of claim 1 of rule 1').fill('acme/site')
    await sheet.getByLabel('Becomes the service account').selectOption('Make a new one…')
    await page.keyboard.press('Tab')
    await sheet.getByLabel('Name of the new service account').fill('Deployments')
    await page.keyboard.press('Enter')
    await expect
      .poll(() => sheet.getByLabel('Becomes the service account').locator('option:checked').textContent())
      .toBe('Deployments (member)')
    await expectAccessible(page)
    await takeScreenshots(page, 'issuer-new')
    await sheet.getByRole('button', { name: 'Trust the issuer' }).click()
    await page.getByRole('heading', { name: 'GitHub Actions' }).waitFor()
    const id = (await sheet.getByText(/^issuer_[0-9a-f]+$/).textContent()) ?? ''
    expect((await stage.exchange(id, await stage.actions.sign(job()))).status).toBe(200)

    await openTab()
    await page.getByRole('button', { name: 'GitHub Actions' }).click()
    await sheet.getByText('repo:acme/site:environment:production').waitFor()
    await takeScreenshots(page, 'issuer')
    await sheet.getByRole('button', { name: 'Add a rule' }).click()
    await sheet.getByLabel('Claim 1 of rule 2', { exact: true }).fill('ref')
    await sheet.getByLabel('Value of claim 1 of rule 2').fill('refs/heads/main')
    await sheet.getByRole('button', { name: 'Save' }).click()
    await sheet.getByText('Rule 2 must say who asks').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'issuer-refused')
    await sheet.getByRole('button', { name: 'Remove rule 2' }).click()
    // The database keeps claims in an order of its own.
    await sheet.getByLabel('Value of claim 1 of rule 1').fill('refs/heads/release-*')
    await sheet.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The issuer is changed').waitFor()
    await stage.expectRefused(id, await stage.actions.sign(job()))
    expect(
      (await stage.exchange(id, await stage.actions.sign(job({ ref: 'refs/heads/release-1' })))).status,
    ).toBe(200)
    await page.keyboard.press('Escape')
    await takeScreenshots(page, 'issuers')
    await page.getByRole('button', { name: 'GitHub Actions' }).click()
    await sheet.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('button', { name: 'Delete the issuer' }).click()
    await page.getByText('No issuer is trusted yet').waitFor()
    await close()
  })

  test('trusted issuers of a cluster have keys that are checked before they are sent', async () => {
    const { page, goto, close } = await openConsole(stage.gateway)
    await goto(`/organization/projects/${stage.projectId}`)
    await page.getByRole('tab', { name: 'Trusted issuers' }).click()
    await page.getByRole('button', { name: 'Trust an issuer' }).first().click()
    const sheet = page.getByRole('dialog')
    await sheet.getByLabel('Kind').selectOption('Kubernetes')
    await sheet.getByLabel('Public keys').fill('{"keys": [')
    await sheet.getByText('The JSON ends too early').waitFor()
    await sheet.getByLabel('Public keys').fill('{"keys": []}')
    await sheet.getByText('Public keys look like').waitFor()
    const keys = { keys: [{ kty: 'EC', crv: 'P-256', x: 'a', y: 'b', kid: 'one' }] }
    await sheet.getByLabel('Public keys').fill(JSON.stringify(keys))
    await sheet.getByLabel('Becomes the service account').selectOption('CI (member)')
    await sheet.getByRole('button', { name: 'Trust the issuer' }).click()
    await page.getByRole('heading', { name: 'Kubernetes' }).waitFor()
    await sheet.getByText('serviceAccountToken').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'issuer-cluster')
    const { body } = await stage.gateway.request('GET', stage.issuersOf())
    expect(body.data).toMatchObject([
      { jwks: keys, rules: [{ claims: { sub: 'system:serviceaccount:namespace:name' } }] },
    ])
    await close()
  })
})
