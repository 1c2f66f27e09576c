import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { openClusterAccess, type ClusterAccess } from '../../src/gpu/kubernetes/cluster-access.ts'
import { readKubeconfig } from '../../src/gpu/kubernetes/read-kubeconfig.ts'
import { read } from '../upstreams/cluster/cluster-store.ts'
import type { RealCluster } from './start-cluster.ts'

const MANIFEST = join(import.meta.dirname, '../../deploy/kubernetes/rbac.yaml')

/** Applies the RBAC manifest in a namespace that enforces the strictest rules for pods, and returns the access that it gives. */
export async function openGatewayAccess(cluster: RealCluster): Promise<ClusterAccess> {
  await cluster.request('POST', '/api/v1/namespaces', {
    metadata: { name: 'parkway', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  })
  for (const document of parseAllDocuments(readFileSync(MANIFEST, 'utf8'))) {
    const { status } = await cluster.request('POST', pathOf(document.toJS()), document.toJS())
    expect(status).toBe(201)
  }
  const account = '/api/v1/namespaces/parkway/serviceaccounts/parkway/token'
  const { body } = await cluster.request('POST', account, { spec: {} })
  const kubeconfig = await cluster.writeKubeconfig(String(read(body, 'status', 'token')))
  return openClusterAccess(await readKubeconfig(kubeconfig, process.env))
}

interface NamedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly namespace: string }
}

/** The collection that an object belongs to. */
export function pathOf({ apiVersion, kind, metadata }: NamedObject): string {
  const api = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  return `${api}/namespaces/${metadata.namespace}/${kind.toLowerCase()}s`
}
