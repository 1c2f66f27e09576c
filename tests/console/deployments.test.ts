import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deploy, startGpuGateway, waitForStatus } from '../deployments/deploy.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { safetensorsFile, startHub, type HubServer } from '../upstreams/hub-server.ts'
import { createUser } from './create-user.ts'
import { expectAccessible } from './expect-accessible.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'
import { takeScreenshots } from './take-screenshots.ts'

const CONFIG = {
  architectures: ['Qwen3ForCausalLM'],
  model_type: 'qwen3',
  num_hidden_layers: 36,
  hidden_size: 4096,
  intermediate_size: 12_288,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  head_dim: 128,
  vocab_size: 151_936,
  max_position_embeddings: 40_960,
}

describe.skipIf(NO_BROWSER !== null)('the deployments of the console', () => {
  let hub: HubServer
  let gateway: TestGateway
  beforeAll(async () => {
    hub = await startHub({
      'Qwen/Qwen3-8B': {
        info: { cardData: { license: 'apache-2.0' } },
        files: {
          'config.json': CONFIG,
          'tokenizer_config.json': { chat_template: '{{ messages }}' },
          'model.safetensors': safetensorsFile({ a: { dtype: 'BF16', shape: [8_190_735_360] } }),
        },
      },
      'Giant/Huge': {
        files: {
          'config.json': CONFIG,
          'model.safetensors': safetensorsFile({ a: { dtype: 'BF16', shape: [900_000_000_000] } }),
        },
      },
    })
    gateway = await startGpuGateway({ HF_ENDPOINT: hub.url, PARKWAY_OUTBOUND_ALLOW: hub.cdnHost })
  })
  afterAll(async () => {
    await gateway.close()
    await hub.close()
  })

  test('lead from nothing over the wizard to a chat, and are stopped and deleted', async () => {
    const user = await createUser(gateway)
    const { page, goto, close } = await openConsole(user)
    await goto('/deployments')
    await page.getByText('No deployments yet').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'deployments-empty')

    await page.getByRole('link', { name: 'Deploy a model' }).click()
    await page.getByText('Or begin with a template').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'deployment-templates')
    await page.getByLabel('Id on the hub').fill('Qwen/Qwen3-8B')
    await page.keyboard.press('Enter')
    await page.getByText('Qwen3ForCausalLM').waitFor()
    const memory = page.getByRole('img', {
      name: /^Weights 16\.4 GB, Cache [\d.]+ GB, Overhead [\d.]+ GB of /,
    })
    await memory.waitFor()
    await page.getByRole('radio', { name: /NVIDIA RTX 4090/ }).check({ force: true })
    await page.getByText('does not fit').waitFor()
    await page.getByRole('radio', { name: /NVIDIA L40S/ }).check({ force: true })
    await page.getByText('fits', { exact: true }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'deployment-wizard')
    await page.getByLabel('Name').fill('My Qwen')
    await page.getByRole('button', { name: 'Create the deployment' }).click()

    await page.getByRole('heading', { name: 'My Qwen' }).waitFor()
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    await waitForStatus(user, id, 'running')
    await page.getByText('running', { exact: true }).first().waitFor()
    await page.getByRole('textbox', { name: 'Message' }).fill('[[sandbox:echo Good day from the engine]]')
    await page.keyboard.press('Enter')
    await page.getByText('Good day from the engine', { exact: true }).waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'deployment')

    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('list', { name: 'History' }).getByText('It was created.').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'deployment-history')
    await page.getByRole('tab', { name: 'Metrics' }).click()
    await page.getByText('GPU memory in GiB').waitFor()
    await page.locator('canvas').first().waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'deployment-metrics')
    await page.getByRole('tab', { name: 'Logs' }).click()
    await expect.poll(() => page.getByLabel('Log of the engine').textContent()).toMatch(/\w+.*\n/)
    await expectAccessible(page)
    await takeScreenshots(page, 'deployment-logs')

    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('stopped', { exact: true }).first().waitFor()
    await goto('/deployments')
    await page.getByRole('link', { name: 'My Qwen' }).waitFor()
    await takeScreenshots(page, 'deployments')
    await page.getByRole('link', { name: 'My Qwen' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('button', { name: 'Delete the deployment' }).click()
    await page.getByText('No deployments yet').waitFor()
    await close()
  })

  test('tell why one failed, on a phone', async () => {
    const made = await gateway.request('POST', '/v1/deployments', {
      body: {
        huggingface_id: 'Qwen/Qwen3-8B',
        gpu_tier: 'l40s_48gb',
        name: 'Too large',
        env: { SANDBOX_FAILURE: 'out_of_memory' },
      },
    })
    await waitForStatus(gateway, made.body.id, 'error')
    const { page, goto, close } = await openConsole(gateway, { width: 390, height: 844 })
    await goto(`/deployments/${made.body.id}?tab=history`)
    await page.getByText('out_of_memory').first().waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    await takeScreenshots(page, 'deployment-error')
    await close()
  })

  test('show what the API said when it fails', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await page.route('**/v1/deployments?**', (route) =>
      route.fulfill({
        status: 500,
        contentType: 'application/json',
        headers: { 'x-request-id': 'req_broken' },
        body: '{"error":{"message":"The database is away.","code":"internal_error"}}',
      }),
    )
    await goto('/deployments')
    await page.getByText('The database is away.').waitFor()
    await expectAccessible(page)
    await takeScreenshots(page, 'deployments-failing')
    await goto('/deployments/01890000-0000-7000-8000-000000000000')
    await page.getByText('The deployment could not be loaded').waitFor()
    await close()
  })

  test('show the log up to the error that ended it, and follow it again', async () => {
    const id = await deploy(gateway)
    const { page, goto, close } = await openConsole(gateway)
    const error = { message: 'The gateway is shutting down.', code: 'service_unavailable' }
    const events = [{ type: 'line', line: 'The last line' }, { error }]
    await page.route('**/logs?follow=true*', (route) =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
      }),
    )
    await goto(`/deployments/${id}?tab=logs`)
    await page.getByText('The log could not be followed').waitFor()
    await page.getByText(error.message).waitFor()
    await page.getByLabel('Log of the engine').getByText('The last line').waitFor()
    expect(await page.getByText('The log has ended').count()).toBe(0)
    await page.unroute('**/logs?follow=true*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Following the log').waitFor()
    await close()
  })

  test('take the address of a page of the hub, and choose no GPU for a model that fits on none', async () => {
    const { page, goto, close } = await openConsole(gateway)
    await goto('/deployments/new')
    await page.getByLabel('Id on the hub').fill('https://huggingface.co/Giant/Huge/tree/main')
    await page.keyboard.press('Enter')
    await page.getByText('fits on none of these GPUs').waitFor()
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Create the deployment' }).isDisabled()).toBe(true)
    await page.getByRole('radio', { name: /NVIDIA L40S/ }).check({ force: true })
    await page.getByText('does not fit').waitFor()
    await close()
  })

  test('begin with a template, which fills in the wizard', async () => {
    const { body } = await gateway.request('GET', '/v1/deployment-templates')
    const template = body.data.find(
      ({ huggingface_id: id }: { huggingface_id: string }) => id === 'Qwen/Qwen3-8B',
    )
    const { page, goto, close } = await openConsole(gateway)
    await goto('/deployments/new')
    await page.getByRole('button', { name: template.name }).click()
    await expect.poll(() => page.getByLabel('Id on the hub').inputValue()).toBe(template.huggingface_id)
    await page.getByText('Qwen3ForCausalLM').waitFor()
    await page.getByRole('radio', { checked: true }).waitFor({ state: 'attached' })
    const sent = page.waitForRequest((request) => request.method() === 'POST')
    await page.getByRole('button', { name: 'Create the deployment' }).click()
    expect((await sent).postDataJSON()).toMatchObject({
      huggingface_id: template.huggingface_id,
      gpu_tier: template.gpu_tier,
    })
    await page.waitForURL(/\/deployments\/[0-9a-f-]{36}/)
    await close()
  })
})
