from __future__ import annotations

from django.urls import path

from devices import discovering, views

app_name = "devices"

urlpatterns = [
    path("devices/", views.device_list, name="device_list"),
    path("devices/new/", views.device_new, name="device_new"),
    path("devices/new/fields/", views.form_fields, name="form_fields"),
    path("devices/attached/", discovering.attached, name="attached"),
    path("devices/<str:public_id>/", views.device, name="device"),
    path("devices/<str:public_id>/check/", views.device_check, name="device_check"),
    path("devices/<str:public_id>/secrets/", views.device_secrets, name="device_secrets"),
    path("devices/<str:public_id>/host-key/", views.device_host_key, name="device_host_key"),
    path("devices/<str:public_id>/quarantine/", views.device_quarantine, name="device_quarantine"),
    path("devices/<str:public_id>/delete/", views.device_delete, name="device_delete"),
]
