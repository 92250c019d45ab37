/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and tokens that node's crypto made; the private keys were thrown away. */
#pragma once

/* clang-format off */
#define KEY_SET \
    "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"ssZIP_QWaSgXVZ-yRPedCn6GzV8VDgin-YES7WmA87Q0C_R9FgXsx" \
    "scoC0p7anguM5VzIBK7TC_jpBrdRw0yUaVWIDbapNJI_lf9XbtnAHw4dRgkvg942tc1zKFPksit1Z8OY" \
    "CM8Ifp_8JwiKZIgUj-pFFwJC2U4W496RCELY-m667ODmhjrqqr6ydpDE_XUo4kzmRUVW-tWXu4jBF5mx" \
    "bgI349Y6_nX5mubWkO1oBGQt_OMoQmVlwZZT4hQ46BZaT-qa5oiFxw8zBc18B43HbMoZM6CVYks-1-eP" \
    "oA-mI28U7b07yhZGgmaeG6GdH-UHxXUVcXGlYcK6-8YhWc0DQ\",\"e\":\"AQAB\",\"kid\":\"rsa\"},{\"kty" \
    "\":\"EC\",\"crv\":\"P-256\",\"x\":\"6CEnTJPeg20zyTMWj6PnRZkYESKxqP9pqD0I2QPZ20E\",\"y\":\"VWTb" \
    "nu3Guvz_osOyfN2RRa2kLE6kI1Uo-RtqYwGDyHg\",\"kid\":\"p256\",\"use\":\"sig\"},{\"kty\":\"EC\",\"" \
    "crv\":\"P-384\",\"x\":\"2ra0ckG-qjkWo4vptCoSLoLt46PmXa898bxO6U8FgC7OB6ZqRG0WSDMOpGxcY4" \
    "Fv\",\"y\":\"7qo806sn61v92Ke4WzP9Vu4oMt7-2hEox0W3ps723DF0UW8DgWUk2UXRQUP4ZO62\",\"kid\"" \
    ":\"p384\"},{\"kty\":\"EC\",\"crv\":\"P-521\",\"x\":\"AU025yMlrnRkHnaW4qEw5HM9cPJtNxT-uwQxnsos" \
    "EvaqbqcrtwIqmGBqOPBKlLWEcf7vAmMigyrNxUZgx3_BerGP\",\"y\":\"AJTbZ5bT282R-plx_3m1R_TdG" \
    "kz4qjY8zVSiFMKncNLSOWunHRKAZIPHYNaA_8lUoGdJohMIK9YY2oWjdLcmKjoP\",\"kid\":\"p521\",\"k" \
    "ey_ops\":[\"verify\"]},{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"tvArDDOqN15IwQvNUEe0baWZ7U" \
    "hkTQMYWHIF05ew1R0\",\"kid\":\"ed\",\"alg\":\"EdDSA\"}]}"

#define WEAK_KEY \
    "{\"kty\":\"RSA\",\"n\":\"nbdzR06PglmjqZupCTRTXCX7Od85hOiPYGjN5hXtsvqMI-gsYQv1TlfwFGXzWc" \
    "70XSg_AMQ0Z9Cwd3aUvV49Wc9SOZ2UgKAH1sJuqch7SSluA5xyYsDRYxfNWxXXDeEzaCACEmLqQuYY_2" \
    "dGwnwnlVNSpTOCJ3x8GufVSjumDcs\",\"e\":\"AQAB\",\"kid\":\"weak\"}"

#define TOKEN_RS256 \
    "eyJhbGciOiJSUzI1NiIsImtpZCI6InJzYSJ9.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiLCJ" \
    "zdWIiOiJ6b2UiLCJhdWQiOlsicm9vbXMiLCJtb290Il0sImV4cCI6MTgwMDAwMDA2MCwibm9uY2UiOiJ" \
    "uLTBTNl9XekEyTWoiLCJhenAiOiJtb290In0.cuMfCmkNkBMBuNzNpRNMzqBq9MbPnw9VdQhc-6pX3P6" \
    "L8Yr4y1P0l7LVgzEZ1CbZxoDYKEGvBfyGLJ8KuIlkt93EhA6P6Y2-bgIl-rx-aJ1W5bvWXHviGQGJL0n" \
    "EJHEJA1Ddi696ObEAmT53gNV3UQpogxaBGhkPMMmz2U-I6lNwVdXMUc6B0cPEyAXpyIfESFLdcjAxTiF" \
    "cb--i6tk4SE3aUytJuiOqPG8I8zeAymw9hQdU4_jffbBXKemgHzB1FuxVAaKpFILxSpEl06RmBxOoVJS" \
    "fxKK3_tGXPO0GLfoa6zd2vKNoH_nG0D2konpQkgH8KkJvTHFtqtQqDZ40bA"

#define TOKEN_RS384 \
    "eyJhbGciOiJSUzM4NCIsImtpZCI6InJzYSJ9.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiLCJ" \
    "zdWIiOiJ6b2UiLCJhdWQiOlsicm9vbXMiLCJtb290Il0sImV4cCI6MTgwMDAwMDA2MCwibm9uY2UiOiJ" \
    "uLTBTNl9XekEyTWoiLCJhenAiOiJtb290In0.Ppose_TERPkFhK8_efwePsNI5t_KuSDq7zZqCNml2VC" \
    "AhEd0A9M53wGbsuUc99wuBND7WLPTBMXcKCkXj6SvEs_dMKerPznhS5DoMxYojoRThcq3L1xLKBxKK36" \
    "9jIaPzALWNYPi68tOW87xOTOzLtstfZpl_GhUzPTBZklLZQRS_-tm8FjSnNtppW7zeIUapnWw4T6SQyM" \
    "t_-TEriTQO5SfY2CYGsnghr2yGBpI8tmLknH-VtsQ4C42Amv_WRW30UDGFjx2-FF88rMDGGZ3yf2eIsQ" \
    "EKyU6yc2KFITm-DLk1AjBUqxeBAIgWfHpWkzEQKlJkeYjPjDxcswGZvjzHA"

#define TOKEN_RS512 \
    "eyJhbGciOiJSUzUxMiIsImtpZCI6InJzYSJ9.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiLCJ" \
    "zdWIiOiJ6b2UiLCJhdWQiOlsicm9vbXMiLCJtb290Il0sImV4cCI6MTgwMDAwMDA2MCwibm9uY2UiOiJ" \
    "uLTBTNl9XekEyTWoiLCJhenAiOiJtb290In0.oLYVm-_fML5KGo45-gUaC2gmWQd4WLT6BnxpHWVaCxr" \
    "bovD4onw0M6hw-gy6qnoS1P-ewSV3Sa1xHPrh3etvGgMgh3fndYiyEvaA4VDYN4re05ZMwLwu0C0M39l" \
    "fp0AXPRcUGTriiOA9T6NoierEPk0VW7xGfGbJU7pyW8rbyBSlz3odoBREf6cAlEVsm_8t9N29A6rcji1" \
    "wXv9QUZmr_frp6y2UgT-hPsTPU44h8AF0V5WKqlAY01r92RFW5zvFBeTvwm4-S0EsOObg4GYbZSHfkJg" \
    "wV8KzpUA5r8pHYwIxqLdXhtpR-cXAorXZfF9QTpfONXxQo0L1FWa1rWYLYw"

#define TOKEN_PS256 \
    "eyJhbGciOiJQUzI1NiIsImtpZCI6InJzYSJ9.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiLCJ" \
    "zdWIiOiJ6b2UiLCJhdWQiOlsicm9vbXMiLCJtb290Il0sImV4cCI6MTgwMDAwMDA2MCwibm9uY2UiOiJ" \
    "uLTBTNl9XekEyTWoiLCJhenAiOiJtb290In0.Ha_3rkAX_hItOnDZkcE2ZaJgLxjRkIZpruLjerlqePY" \
    "UEMzJn709Kg8Xeae67-dbjzgUtPKSS9iLQ4ATYAqF1M2nrj7P5fsEg2jXk0WfJT7pQE-YAsX6yr4EqUu" \
    "Jjy9ARmMNCzTC55BYclJ79R9A9CQ6Zc11cBo-PyrBALqD0-Fv3kLKgUi-WHYBf9Rhmzhc0Q_fUoGVFuf" \
    "JjZSUWjq_HieoPUh0D7IxlG3MKJbNaML_XhPJKqtMJa_noxGQSshNN1Al-RmN4e--EgXwvCcqLrrGF8F" \
    "p0okpLjTy0gHJqdm7YWSZbqmc2OtAqW2bKNs94N7rXibaE9HjulfbE_GkQQ"

#define TOKEN_PS384 \
    "eyJhbGciOiJQUzM4NCIsImtpZCI6InJzYSJ9.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiLCJ" \
    "zdWIiOiJ6b2UiLCJhdWQiOlsicm9vbXMiLCJtb290Il0sImV4cCI6MTgwMDAwMDA2MCwibm9uY2UiOiJ" \
    "uLTBTNl9XekEyTWoiLCJhenAiOiJtb290In0.o3IZmat6N3-lkcQPlpIfC3hyptkhaVcnCdI9UxRTn1E" \
    "kw-sp1ZscowlC9yl44VJglFBQxWgTWudmgd-Uo2kYhhYrCn3G4ipHJHbyNoC1xcvIhlHjM_KhTzBLNPu" \
    "6MljFQ_D1b7DpmO5gHy9TSPGOt9bT_mGWeMjKdPBRgaa1KCZCC3jFH1USOOgtrAWXQQ-ApuXvy75U5Io" \
    "cHhnZQoxZ5b6qgtV22OMF1-syxS4gdc5oBPL7wgBmYXTSrizqqRTD0WFal1g-uimRXvMpZPLbjLXnvpd" \
    "yE1ErgjZ4DR8YwThW1WVQ7c8Dc4DtdbQ11a42h2oP8bCuTgDhRyyHXcTRMw"

#define TOKEN_PS512 \
    "eyJhbGciOiJQUzUxMiIsImtpZCI6InJzYSJ9.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiLCJ" \
    "zdWIiOiJ6b2UiLCJhdWQiOlsicm9vbXMiLCJtb290Il0sImV4cCI6MTgwMDAwMDA2MCwibm9uY2UiOiJ" \
    "uLTBTNl9XekEyTWoiLCJhenAiOiJtb290In0.Z2NH7xgM2KSPWLhvGE-F4qa_vuVp-3fJC4XAji-Lfz9" \
    "dZDyeMgXFfgHLZK1Jd6LMSvz9tCNuAnXsPCJK8eU4336hLF4mH_f5lwy2WThHCiwCE1HwkRdNuIPOOCC" \
    "4_IAfbxO8U-vmU90Re6Z8sNcf6m-LyScaLYWwXVpDZ815kK3wbjb-Ys1zGUuJCrTRQe_fFxQUyaujdN-" \
    "gqBHOzVdj5COqSMXmAr4jW61KGA6d1oJhu106JBEJYgiLU928_H34l2sMhOWjX_wHRr8H61WdbUDmpUO" \
    "7SSF4tz261OqXZmv8AMG2ajXV7YYhay8FZ4hk9hIZXSnxbBE6a0GwXO2Mag"

#define TOKEN_ES256 \
    "eyJhbGciOiJFUzI1NiIsImtpZCI6InAyNTYifQ.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiL" \
    "CJzdWIiOiJ6b2UiLCJhdWQiOlsicm9vbXMiLCJtb290Il0sImV4cCI6MTgwMDAwMDA2MCwibm9uY2UiO" \
    "iJuLTBTNl9XekEyTWoiLCJhenAiOiJtb290In0.9wOm6_1E_9w5BlxX8tLQ4G3cMmwFq0EWOlkAL3Bzq" \
    "WZ843UVVrLN3_zYuesd21QQUToGdCgV5ZlGG1qLtZHl7A"

#define TOKEN_ES384 \
    "eyJhbGciOiJFUzM4NCIsImtpZCI6InAzODQifQ.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiL" \
    "CJzdWIiOiJ6b2UiLCJhdWQiOlsicm9vbXMiLCJtb290Il0sImV4cCI6MTgwMDAwMDA2MCwibm9uY2UiO" \
    "iJuLTBTNl9XekEyTWoiLCJhenAiOiJtb290In0.-VCBN_N2uP0MI-EwtoXGZi55_KXPlEIWTS8mTNFzd" \
    "K1mq0GWnDyG3Dq7Uklw9ssEuZgekJB1HaoBaCuc3KUgsreuwW9e9nG4BVhSbxDzI0zcyLJk-FSlXpTon" \
    "zC1ffJa"

#define TOKEN_ES512 \
    "eyJhbGciOiJFUzUxMiIsImtpZCI6InA1MjEifQ.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiL" \
    "CJzdWIiOiJ6b2UiLCJhdWQiOlsicm9vbXMiLCJtb290Il0sImV4cCI6MTgwMDAwMDA2MCwibm9uY2UiO" \
    "iJuLTBTNl9XekEyTWoiLCJhenAiOiJtb290In0.AeV0WPjeE9WSN7A-HsOaClpun4soiNhOof2PUvpW3" \
    "cQ0iSy312a3epTezJmMA3lkCLb6HH_H61tZzJPS1GD5KZP_Aa1psOdYJKgoYUc0d1AmGRwMEH3I5Pw0O" \
    "Czd92WFCdKrItMHCtPQjYUqL-nqbuDcbSbX2SErcWEb-ukKfzen52xn"

#define TOKEN_EDDSA \
    "eyJhbGciOiJFZERTQSIsImtpZCI6ImVkIn0.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiLCJz" \
    "dWIiOiJ6b2UiLCJhdWQiOlsicm9vbXMiLCJtb290Il0sImV4cCI6MTgwMDAwMDA2MCwibm9uY2UiOiJu" \
    "LTBTNl9XekEyTWoiLCJhenAiOiJtb290In0.um9eS1vPLNDycJ94ETrVxC7TnvjXGLKP1FB-K1pvGpun" \
    "wQD3Y_UZFfXskMdjvaEnNeH8e1ogLNHIuFa62ELOCA"

#define TOKEN_WITHOUT_KID \
    "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiLCJzdWIiOiJ6b2UiLCJ" \
    "hdWQiOlsicm9vbXMiLCJtb290Il0sImV4cCI6MTgwMDAwMDA2MCwibm9uY2UiOiJuLTBTNl9XekEyTWo" \
    "iLCJhenAiOiJtb290In0.BgEFmR89uOxo2PHibX9SLhbpFu8ZW57mI-5HlMOQlDRYUugJ4OO5Kzz1mTv" \
    "f988LDxXhQXkD6JyAvCM1htROGA"

#define TOKEN_OF_STRANGER \
    "eyJhbGciOiJFUzI1NiIsImtpZCI6InAyNTYifQ.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiL" \
    "CJzdWIiOiJ6b2UiLCJhdWQiOlsicm9vbXMiLCJtb290Il0sImV4cCI6MTgwMDAwMDA2MCwibm9uY2UiO" \
    "iJuLTBTNl9XekEyTWoiLCJhenAiOiJtb290In0.1HNAj1tUI8tgD1cL1jzoj8PNG-FvoANVAUBtYBeqN" \
    "PCeSD8fKr_jLzzSgzNrh5KyWkAH2U5Iqf5z_lNZ1rqxpw"

#define TOKEN_OF_NEW_KEY \
    "eyJhbGciOiJFUzI1NiIsImtpZCI6Im5ldyJ9.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiLCJ" \
    "zdWIiOiJ6b2UiLCJhdWQiOlsicm9vbXMiLCJtb290Il0sImV4cCI6MTgwMDAwMDA2MCwibm9uY2UiOiJ" \
    "uLTBTNl9XekEyTWoiLCJhenAiOiJtb290In0.nY7EPgfpccnPDsCZZNuOyje78oyNjJxMMcRR_P9f2Mm" \
    "L56xYVFdqF6f2GeUkA69Mxt3W2w81w5pSLEtcJvo6HA"

#define TOKEN_WITHOUT_AZP \
    "eyJhbGciOiJFZERTQSIsImtpZCI6ImVkIn0.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUiLCJz" \
    "dWIiOiJ6b2UiLCJhdWQiOlsicm9vbXMiLCJtb290Il0sImV4cCI6MTgwMDAwMDA2MCwibm9uY2UiOiJu" \
    "LTBTNl9XekEyTWoifQ.nkWHcUaW7AmsLleMvajCWB67sqTLPnx4T1p4R40Vanbp0pdsawAUY7OQuo9H2" \
    "uIlEF-8rbzCmBuh9iS7hK0fBg"

#define TOKEN_OF_OTHER_ISSUER \
    "eyJhbGciOiJFZERTQSIsImtpZCI6ImVkIn0.eyJpc3MiOiJodHRwczovL2Vsc2V3aGVyZS5leGFtcGxl" \
    "Iiwic3ViIjoiem9lIiwiYXVkIjpbInJvb21zIiwibW9vdCJdLCJleHAiOjE4MDAwMDAwNjAsIm5vbmNl" \
    "Ijoibi0wUzZfV3pBMk1qIiwiYXpwIjoibW9vdCJ9.RA36WjTK-51Mifilz3BmVaK3QODut7rGScAqnBY" \
    "kVzN3KWJMKMAWGJcVaBxPkyFW7HvgDD-1kEaM-niYhJeNCQ"

/* clang-format on */
