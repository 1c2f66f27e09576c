/** Self-signed certificate for localhost, which ended in 2020, made with `openssl ca -selfsign -startdate -enddate`. */
export const expiredCertificate = `-----BEGIN CERTIFICATE-----
MIIBEDCBtgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwHhcN
MjAwMTAxMDAwMDAwWhcNMjAwMjAxMDAwMDAwWjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAR24isKbYOt9O0Xpg5NTZ1yXjW/
2wwbVuEbGRx8R/PO2j7y5S6nfTcqRvvMVgFE0EbxDpWsLakkhmK47VSP9Nd6MAoG
CCqGSM49BAMCA0kAMEYCIQDqfoMDG6QpG29NuFFvpe767ixVv5eTyOe3YeDmq/ot
VwIhAJqKwUCwVgNixzJhvZGDWXIhJ9M4cGJQwrF4KKMlivSw
-----END CERTIFICATE-----
`

export const expiredKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgidVQugX9KE6VMyMv
AZfDCe/squ/sLzljaQXWg+dQ90WhRANCAAR24isKbYOt9O0Xpg5NTZ1yXjW/2wwb
VuEbGRx8R/PO2j7y5S6nfTcqRvvMVgFE0EbxDpWsLakkhmK47VSP9Nd6
-----END PRIVATE KEY-----
`
