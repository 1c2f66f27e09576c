import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { addModel, askModel, MODELS } from '../offer/offered-model.ts'
import { completion } from '../upstreams/openai-server.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

describe.skipIf(NO_BROWSER !== null)('models and prices in the console', () => {
  let gateway: ChatGateway
  beforeAll(async () => {
    gateway = await startChatGateway({
      models: [
        modelEntry('of-the-file', [{ provider: 'openai', model: 'upstream-of-the-file', priority: 0 }]),
      ],
    })
    gateway.upstream.respondWith(async () => completion())
  })
  afterAll(() => gateway.close())
  const read = async (id: string) => (await gateway.request('GET', `${MODELS}/${id}`)).body

  test('a model is added, used, edited, priced for later and removed', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/model-settings')
    await page.getByRole('button', { name: 'Add a model' }).click()
    const form = page.getByRole('dialog', { name: 'Add a model' })
    await form.getByLabel('Id', { exact: true }).fill('our-llama')
    await form.getByLabel('Name', { exact: true }).fill('Our Llama')
    await form.getByLabel('Vendor').fill('Meta')
    await form.getByLabel('Context, tokens').fill('8192')
    await form.getByLabel('Provider', { exact: true }).fill('nobody')
    await form.getByLabel('The provider’s name of the model').fill('llama-3')
    await form.getByLabel('Input', { exact: true }).fill('1')
    await form.getByLabel('Output', { exact: true }).fill('2')
    await form.getByRole('button', { name: 'Add it' }).click()
    await form.getByText('The model could not be added').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'model-settings-add')
    await form.getByLabel('Provider', { exact: true }).fill('openai')
    await form.getByRole('button', { name: 'Add it' }).click()
    await page.getByText('our-llama is served from now on.').waitFor()
    expect((await askModel(gateway, 'our-llama')).status).toBe(200)

    await page.getByLabel('Name, vendor or provider').fill('our-llama')
    await page.getByRole('button', { name: 'our-llama' }).click()
    const sheet = page.getByRole('dialog', { name: 'Our Llama' })
    await sheet.getByRole('button', { name: 'Set a price' }).click()
    const pricing = page.getByRole('dialog', { name: 'Price of our-llama' })
    await pricing.getByLabel('Charged from').fill(`${inDays(40)}T12:00`)
    await pricing.getByLabel('Input', { exact: true }).fill('1.5')
    await pricing.getByLabel('Reason').fill('The vendor raises its prices.')
    await pricing.getByRole('button', { name: 'Set the price' }).click()
    await sheet.getByText('future').waitFor()
    await sheet.getByRole('img', { name: 'US dollars for 1 million tokens' }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'model-settings-model')
    expect((await read('our-llama')).price.input_usd_per_1m).toBe(1)
    await sheet.getByRole('button', { name: 'Withdraw' }).click()
    await sheet.getByText('withdrawn', { exact: true }).waitFor()

    await sheet.getByRole('button', { name: 'Edit' }).click()
    const edit = page.getByRole('dialog', { name: 'Edit our-llama' })
    await edit.getByLabel('Context, tokens').fill('')
    await edit.getByLabel('Deprecated from').fill('2026-01-01')
    await edit.getByLabel('Ends', { exact: true }).fill(inDays(30))
    await edit.getByLabel('Successor', { exact: true }).fill('of-the-file')
    await takeScreenshots(page, 'model-settings-edit')
    await edit.getByRole('button', { name: 'Save the changes' }).click()
    await sheet.getByText('requests are refused').waitFor()
    const changed = await read('our-llama')
    expect([changed.successor, changed.context_tokens ?? null]).toEqual(['of-the-file', null])

    await sheet.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Remove the model' }).click()
    await page.getByText('No model matches').waitFor()
    expect((await gateway.request('GET', `${MODELS}/our-llama`)).status).toBe(404)

    await page.getByLabel('Name, vendor or provider').fill('of-the-file')
    await page.getByRole('button', { name: 'of-the-file' }).click()
    await page.getByRole('dialog').getByText('can only be changed there').waitFor()
    expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await takeScreenshots(page, 'model-settings')
    await close()
  })

  test('a public price list is compared, and what is chosen of it is taken', async () => {
    const listed = (input: number, output: number) => ({
      litellm_provider: 'openai',
      mode: 'chat',
      max_input_tokens: 128_000,
      input_cost_per_token: input,
      output_cost_per_token: output,
    })
    const { price } = await read('of-the-file')
    const list = {
      'upstream-of-the-file': listed((price.input_usd_per_1m * 1.5) / 1e6, price.output_usd_per_1m / 1e6),
      'brand-new': listed(1e-6, 2e-6),
      odd: listed(-1, 2e-6),
    }
    const { page, goto, close } = await openConsole(gateway)
    await goto('/model-settings?tab=import')
    await page.getByText('In a file').click()
    await page.getByLabel('List', { exact: true }).fill('{')
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('The list could not be compared').waitFor()
    await page.getByLabel('List', { exact: true }).fill(JSON.stringify(list))
    await page.getByRole('button', { name: 'Compare' }).click()
    const changed = page.getByRole('region', { name: 'Changed' })
    await changed.getByText('(+50 %)').waitFor()
    await page.getByText('Not believed (').click()
    await page.getByText('input_cost_per_token is negative').waitFor()
    await page.getByRole('region', { name: 'New' }).getByText('brand-new').waitFor()
    await changed.getByRole('checkbox', { name: /of-the-file/ }).check()
    await page
      .getByRole('region', { name: 'New' })
      .getByRole('checkbox', { name: /brand-new/ })
      .check()
    await expectAccessible(page)
    await takeScreenshots(page, 'model-settings-import')
    await page.getByRole('button', { name: 'Take 2 models' }).click()
    await page.getByText('1 changed, 1 added.').waitFor()
    expect((await read('of-the-file')).price.input_usd_per_1m).toBeCloseTo(price.input_usd_per_1m * 1.5, 9)
    expect((await read('brand-new')).source).toBe('database')
    await close()
  })

  test('models that end are told to those who use them and to operators', async () => {
    const old = { deprecated_from: '2026-01-01', shutdown_at: inDays(20), successor: 'of-the-file' }
    expect((await addModel(gateway, 'old-model', old)).status).toBe(201)
    expect((await askModel(gateway, 'old-model')).status).toBe(200)
    const { page, goto, close } = await openConsole(gateway)
    for (const path of ['/', '/keys', '/models']) {
      await goto(path)
      await page.getByText('Your keys used a model in the last 30 days that ends').waitFor()
    }
    await page.getByRole('button', { name: 'Which keys' }).click()
    await page.getByRole('dialog', { name: 'Models that end' }).getByText('1 request').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'deprecations-own')
    // The stream does not end, so the network is never idle.
    await page.goto('/overview')
    await page.getByRole('link', { name: 'Who uses them' }).click()
    await page.getByRole('button', { name: 'old-model' }).click()
    const sheet = page.getByRole('dialog', { name: 'old-model' })
    await sheet.getByRole('region', { name: 'Keys' }).getByRole('link').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'deprecation')
    await page.keyboard.press('Escape')
    await takeScreenshots(page, 'deprecations')
    await close()
  })

  test('a configuration is compared and applied, unless something was changed meanwhile', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/configuration')
    await page.getByLabel('Configuration now').waitFor()
    const document = page.getByLabel('Document', { exact: true })
    await document.fill('parkway: [')
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText(/^Flow sequence/).waitFor()
    const models = (input: number) => `parkway: 1
models:
  - id: as-code
    name: As code
    vendor: Test
    category: llm
    context_tokens: 8192
    capabilities: [chat]
    price: { unit: token, input_usd_per_1m: ${input}, output_usd_per_1m: 2 }
    routes: [{ provider: openai, model: upstream-as-code }]
`
    await document.fill(models(1))
    await page.getByRole('button', { name: 'Compare' }).click()
    const differences = page.getByRole('region', { name: 'Differences' })
    await differences.getByText('as-code', { exact: true }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'configuration')
    expect((await addModel(gateway, 'meanwhile')).status).toBe(201)
    await differences.getByRole('button', { name: /^Apply/ }).click()
    await differences.getByText('Something was changed meanwhile').waitFor()
    expect((await gateway.request('GET', `${MODELS}/as-code`)).status).toBe(404)
    await page.getByRole('button', { name: 'Compare again' }).click()
    await differences.getByText('meanwhile', { exact: true }).first().waitFor()
    await differences.getByRole('button', { name: /^Apply/ }).click()
    await page.getByText('The configuration is applied').waitFor()
    expect((await gateway.request('GET', `${MODELS}/as-code`)).status).toBe(200)
    expect((await gateway.request('GET', `${MODELS}/meanwhile`)).status).toBe(404)
    await close()
  })
})
