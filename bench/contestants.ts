import { bare, floor } from './contestants/bare.ts'
import type { Contestant } from './contestants/contestant.ts'
import { litellm } from './contestants/litellm.ts'
import { nginx } from './contestants/nginx.ts'
import { parkway } from './contestants/parkway.ts'
import { portkey } from './contestants/portkey.ts'

export const contestants: readonly Contestant[] = [parkway, bare, floor, nginx, portkey, litellm]
