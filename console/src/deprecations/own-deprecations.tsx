import { useQuery } from '@tanstack/react-query'
import { ownDeprecationsQuery } from '../api/deprecations.ts'
import { OwnDeprecationNotice } from './deprecation-notice.tsx'

/** A notice about models that end and that keys of the account still use. */
export function OwnDeprecations() {
  const { data } = useQuery(ownDeprecationsQuery)
  return <OwnDeprecationNotice models={data?.data.map(({ id }) => id) ?? []} />
}
