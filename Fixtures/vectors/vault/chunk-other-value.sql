-- note: a chunk bound to another value id
-- expect: chunk/damaged
-- base: good-chunked
INSERT OR REPLACE INTO chunk VALUES (x'8d62d8ff2f83fe6cb5f28e492dc1b848', 2, x'cab696f3cb804cd74de6e7f6d588b64576f9e2ec89451578770d4cf78e84d41e06e33afa489a53c18f3858f9ed63807d0206d2fbde99a48c5f24ce7cac6e37d63a099b1d1ae7b94c1e');
