// What BLEST's download of matrices needs to compile where there is no libcurl. Nothing is
// downloaded.
#pragma once
typedef int CURL, CURLcode;
enum { CURLE_OK, CURLINFO_RESPONSE_CODE, CURLOPT_FOLLOWLOCATION, CURLOPT_URL, CURLOPT_USERAGENT };
enum { CURLOPT_WRITEDATA, CURLOPT_WRITEFUNCTION, CURL_GLOBAL_ALL };
inline CURL* curl_easy_init() { return nullptr; }
inline void curl_easy_cleanup(CURL*) {}
inline CURLcode curl_easy_perform(CURL*) { return 1; }
template <typename... Some> CURLcode curl_easy_setopt(Some...) { return 1; }
template <typename... Some> CURLcode curl_easy_getinfo(Some...) { return 1; }
inline const char* curl_easy_strerror(CURLcode) { return "nothing is downloaded"; }
inline CURLcode curl_global_init(long) { return 1; }
inline void curl_global_cleanup() {}
