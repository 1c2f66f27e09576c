import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { parseKubernetesSettings } from '../../src/app/settings/parse-kubernetes-settings.ts'
import { createKubernetesStage } from './kubernetes-stage.ts'

const DEPLOY = join(import.meta.dirname, '../../deploy')
const readText = (path: string) => readFileSync(join(DEPLOY, path), 'utf8')

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

const role = parseAllDocuments(readText('kubernetes/rbac.yaml'))
  .map((document) => document.toJS())
  .find(({ kind }) => kind === 'Role')
const rights = role.rules.flatMap(({ apiGroups, resources, verbs }: Rule) =>
  apiGroups.flatMap((group) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`)),
  ),
)

/** An apply needs two rights, because it creates or patches the object. */
const VERBS: Readonly<Record<string, readonly string[]>> = {
  'GET object': ['get'],
  'GET list': ['list'],
  'GET watch': ['watch'],
  'PATCH object': ['create', 'patch'],
  'DELETE object': ['delete'],
}

/** Returns the rights that a request needs. */
function rightsFor(line: string): readonly string[] {
  const [, method = '', group = '', resource = '', name, part, watch] =
    /^([A-Z]+) \/(?:api|apis\/([^/]+))\/v1\/namespaces\/[^/]+\/([a-z]+)(?:\/([^/?]+))?(?:\/([a-z]+))?(\?watch)?$/.exec(
      line,
    ) ?? []
  const what = watch ? 'watch' : name === undefined ? 'list' : 'object'
  return (VERBS[`${method} ${what}`] ?? []).map(
    (verb) => `${verb} ${group}/${resource}${part ? `/${part}` : ''}`,
  )
}

describe('the deployment files', () => {
  test('give the gateway only the rights that its driver uses', async () => {
    const stage = await createKubernetesStage()
    const order = stage.order({ hubToken: 'hf_secret' })
    await stage.driver.launch(order)
    await stage.settle()
    await stage.driver.logs(order.instanceId, { linesMax: 10 })
    await stage.driver.capacity()
    await stage.driver.stop(order.instanceId)
    await stage.settle()
    const later = await stage.createDriver({
      nowMs: () => Date.now() + 7_200_000,
      monotonicMs: () => performance.now(),
    })
    await later.sweep(async () => new Set())
    await stage.close()
    const used = new Set(stage.cluster.requests.flatMap(rightsFor))
    expect(used).toEqual(new Set(rights))
  })

  test('have the same rules in the chart', () => {
    const template = readText('helm/parkway/templates/engines-rbac.yaml')
    const [rules = ''] = /^rules:\n(?:  .*\n)+/m.exec(template) ?? []
    expect(parse(rules).rules).toEqual(role.rules)
  })

  test('have default engine settings that the gateway accepts', () => {
    const { engines } = parse(readText('helm/parkway/values.yaml'))
    const added = { namespace: 'a', gateway_name: 'b', gateway_namespace: 'c', gateway_labels: { d: 'e' } }
    expect(parseKubernetesSettings(JSON.stringify({ ...engines.settings, ...added })).gatewayName).toBe('b')
  })

  test('let several replicas share one sealing key, and refuse replicas without', () => {
    const { sealingKey } = parse(readText('helm/parkway/values.yaml'))
    expect(sealingKey).toEqual({ existingSecret: '', key: 'PARKWAY_SEALING_KEY' })
    const pod = readText('helm/parkway/templates/_pod.tpl')
    expect(pod).toMatch(/- name: PARKWAY_SEALING_KEY\n\s+valueFrom:\n\s+secretKeyRef:/)
    expect(readText('helm/parkway/templates/_names.tpl')).toContain('several replicas need one sealing key')
  })
})
